// What limit ranges default to, and amounts that contradict each other.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { limitRange } from './limit-range.js'
import type { LimitRange, LimitRangeItem } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'l', namespace: 'shop', resourceVersion: '1' }
const make = (...limits: readonly LimitRangeItem[]): LimitRange => frozen({ metadata, spec: { limits } })

const defaulted: readonly { readonly title: string; readonly sent: LimitRangeItem; readonly kept: LimitRangeItem }[] = [
  {
    title: 'the limit is the maximum, the request the limit or else the minimum',
    sent: { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '1Mi' } },
    kept: {
      type: 'Container',
      max: { cpu: '2' },
      min: { cpu: '100m', memory: '1Mi' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1Mi' },
    },
  },
  {
    title: 'what is said stays',
    sent: { type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
    kept: { type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
  },
  { title: 'pods have no defaults', sent: { type: 'Pod', max: { cpu: '2' } }, kept: { type: 'Pod', max: { cpu: '2' } } },
  {
    title: 'amounts are rounded up to thousandths',
    sent: { type: 'Pod', max: { cpu: '100u' } },
    kept: { type: 'Pod', max: { cpu: '1m' } },
  },
]

for (const { title, sent, kept } of defaulted) {
  test(title, () => {
    const complete = limitRange.defaults?.(make(sent), context)
    assert.deepEqual(complete, { metadata, spec: { limits: [kept] } })
    assert.ok(complete !== undefined)
    assert.equal(limitRange.defaults?.(complete, context), complete)
  })
}

const rows: readonly { readonly title: string; readonly limits: readonly LimitRangeItem[]; readonly found: readonly string[] }[] = [
  { title: 'nothing', limits: [], found: [] },
  {
    title: 'everything in order',
    limits: [
      {
        type: 'Container',
        min: { cpu: '1' },
        defaultRequest: { cpu: '2' },
        default: { cpu: '3' },
        max: { cpu: '4' },
        maxLimitRequestRatio: { cpu: '4' },
      },
      { type: 'PersistentVolumeClaim', min: { storage: '1Gi' } },
      { type: 'example.com/thing', max: { 'example.com/piece': '3' } },
    ],
    found: [],
  },
  {
    title: 'a name that every object of the language knows',
    limits: [{ type: 'Container', min: { cpu: '1' }, max: { constructor: '1' } as unknown as LimitRangeItem['max'] & object }],
    found: [
      'spec.limits[0].max[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified',
      'spec.limits[0].max[constructor]: Invalid value: "constructor": must be a standard resource for containers',
    ],
  },
  {
    title: 'a minimum above all else',
    limits: [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    found: [
      'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
      'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
    ],
  },
  {
    title: 'a request above all else',
    limits: [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '3' } }],
    found: [
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 2',
      'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than default limit value 1',
    ],
  },
  {
    title: 'a limit above the maximum',
    limits: [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '1500m' } }],
    found: ['spec.limits[0].default[cpu]: Invalid value: "1": default value 1500m is greater than max value 1'],
  },
  {
    title: 'defaults of pods',
    limits: [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }],
    found: [
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
      "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
    ],
  },
  {
    title: 'types that are wrong or repeated',
    limits: [{ type: 'Thing' }, { type: 'Pod' }, { type: 'Pod' }, {}],
    found: [
      'spec.limits[0].type: Invalid value: "Thing": must be a standard limit type or fully qualified',
      'spec.limits[2].type: Duplicate value: "Pod"',
      'spec.limits[3].type: Invalid value: "": name part must be non-empty',
      'spec.limits[3].type: Invalid value: "": name part must consist of',
    ],
  },
  {
    title: 'resources that containers do not have',
    limits: [{ type: 'Container', max: { pods: '1' }, min: { nonsense: '1' } }],
    found: [
      'spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers',
      'spec.limits[0].min[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
      'spec.limits[0].min[nonsense]: Invalid value: "nonsense": must be a standard resource for containers',
    ],
  },
  {
    title: 'claims without a bound on storage',
    limits: [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }],
    found: ['spec.limits[0].limits: Required value: either minimum or maximum storage value is required'],
  },
  {
    title: 'ratios that are impossible',
    limits: [
      { type: 'Pod', min: { cpu: '1', memory: '1' }, max: { cpu: '2', memory: '2' }, maxLimitRequestRatio: { cpu: '500m', memory: '3' } },
    ],
    found: [
      'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
      'spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
    ],
  },
  {
    title: 'what cannot be overcommitted',
    limits: [{ type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }],
    found: [
      'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu',
    ],
  },
]

for (const { title, limits, found } of rows) {
  test(`limits with ${title}`, () => {
    expectErrors(validateCreation(limitRange, make(...limits), context), found)
    expectErrors(validateChange(limitRange, { next: make(...limits), old: make() }, context), found)
  })
}

test('without a name, another identifier is the name', () => {
  const uid = '36ceb26c-a7de-4d47-9083-5f26b8eb47aa'
  const sent = frozen({ metadata: { namespace: 'shop', uid }, spec: { limits: [] } })
  assert.equal(limitRange.prepareCreate?.(sent, context).metadata?.name, 'b8eb47aa-a7de-4d47-9083-5f2636ceb26c')
  assert.equal(limitRange.prepareCreate?.(make(), context).metadata?.name, 'l')
})
