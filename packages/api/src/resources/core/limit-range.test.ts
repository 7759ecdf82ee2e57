// Tests of LimitRanges: defaults, contradicting amounts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { limitRange } from './limit-range.js'
import type { LimitRange, LimitRangeItem } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'l', namespace: 'shop', resourceVersion: '1' }
const make = (...limits: readonly LimitRangeItem[]): LimitRange => frozen({ metadata, spec: { limits } })

const defaulted: readonly (readonly [title: string, sent: LimitRangeItem, kept: LimitRangeItem])[] = [
  [
    'default is max; defaultRequest is default, otherwise min',
    { type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '1Mi' } },
    {
      type: 'Container',
      max: { cpu: '2' },
      min: { cpu: '100m', memory: '1Mi' },
      default: { cpu: '2' },
      defaultRequest: { cpu: '2', memory: '1Mi' },
    },
  ],
  [
    'given default and defaultRequest are kept',
    { type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
    { type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '500m' } },
  ],
  ['items of type Pod get no defaults', { type: 'Pod', max: { cpu: '2' } }, { type: 'Pod', max: { cpu: '2' } }],
  ['quantities are rounded up to thousandths', { type: 'Pod', max: { cpu: '100u' } }, { type: 'Pod', max: { cpu: '1m' } }],
]

for (const [title, sent, kept] of defaulted) {
  test(title, () => {
    const complete = limitRange.defaults?.(make(sent), context)
    assert.deepEqual(complete, { metadata, spec: { limits: [kept] } })
    assert.ok(complete !== undefined)
    assert.equal(limitRange.defaults?.(complete, context), complete)
  })
}

const rows: readonly (readonly [limits: readonly LimitRangeItem[], ...expected: readonly string[]])[] = [
  [[]],
  [
    [
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
  ],
  [
    [{ type: 'Container', min: { cpu: '1' }, max: { constructor: '1' } as unknown as LimitRangeItem['max'] & object }],
    'spec.limits[0].max[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified',
    'spec.limits[0].max[constructor]: Invalid value: "constructor": must be a standard resource for containers',
  ],
  [
    [{ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' }, default: { cpu: '1' }, defaultRequest: { cpu: '1' } }],
    'spec.limits[0].min[cpu]: Invalid value: "2": min value 2 is greater than max value 1',
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "1": min value 2 is greater than default request value 1',
    'spec.limits[0].default[cpu]: Invalid value: "2": min value 2 is greater than default value 1',
  ],
  [
    [{ type: 'Container', max: { cpu: '2' }, default: { cpu: '1' }, defaultRequest: { cpu: '3' } }],
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than max value 2',
    'spec.limits[0].defaultRequest[cpu]: Invalid value: "3": default request value 3 is greater than default limit value 1',
  ],
  [
    [{ type: 'Container', max: { cpu: '1' }, default: { cpu: '1500m' } }],
    'spec.limits[0].default[cpu]: Invalid value: "1": default value 1500m is greater than max value 1',
  ],
  [
    [{ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '2' } }],
    "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    "spec.limits[0].defaultRequest: Forbidden: may not be specified when `type` is 'Pod'",
  ],
  [
    [{ type: 'Thing' }, { type: 'Pod' }, { type: 'Pod' }, {}],
    'spec.limits[0].type: Invalid value: "Thing": must be a standard limit type or fully qualified',
    'spec.limits[2].type: Duplicate value: "Pod"',
    'spec.limits[3].type: Invalid value: "": name part must be non-empty',
    'spec.limits[3].type: Invalid value: "": name part must consist of',
  ],
  [
    [{ type: 'Container', max: { pods: '1' }, min: { nonsense: '1' } }],
    'spec.limits[0].max[pods]: Invalid value: "pods": must be a standard resource for containers',
    'spec.limits[0].min[nonsense]: Invalid value: "nonsense": must be a standard resource type or fully qualified',
    'spec.limits[0].min[nonsense]: Invalid value: "nonsense": must be a standard resource for containers',
  ],
  [
    [{ type: 'PersistentVolumeClaim', max: { cpu: '1' } }],
    'spec.limits[0].limits: Required value: either minimum or maximum storage value is required',
  ],
  [
    [{ type: 'Pod', min: { cpu: '1', memory: '1' }, max: { cpu: '2', memory: '2' }, maxLimitRequestRatio: { cpu: '500m', memory: '3' } }],
    'spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: "500m": ratio 500m is less than 1',
    'spec.limits[0].maxLimitRequestRatio[memory]: Invalid value: "3": ratio 3 is greater than max/min = 2.000000',
  ],
  [
    [{ type: 'Container', default: { 'example.com/gpu': '2' }, defaultRequest: { 'example.com/gpu': '1' } }],
    'spec.limits[0].defaultRequest[example.com/gpu]: Invalid value: "1": default value 2 must equal to defaultRequest value 1 in example.com/gpu',
  ],
]

for (const [limits, ...expected] of rows) {
  test(`limits: ${rowTitle(limits, expected)}`, () => {
    expectErrors(validateCreation(limitRange, make(...limits), context), expected)
    expectErrors(validateChange(limitRange, { next: make(...limits), old: make() }, context), expected)
  })
}

test('an unnamed LimitRange gets a name', () => {
  const uid = '36ceb26c-a7de-4d47-9083-5f26b8eb47aa'
  const sent = frozen({ metadata: { namespace: 'shop', uid }, spec: { limits: [] } })
  assert.equal(limitRange.prepareCreate?.(sent, context).metadata?.name, 'b8eb47aa-a7de-4d47-9083-5f2636ceb26c')
  assert.equal(limitRange.prepareCreate?.(make(), context).metadata?.name, 'l')
})
