// Requests, limits and claims of containers, and the names of resources.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../../api/identity.js'
import type { PodSpec, ResourceRequirements } from '../v1.schema.js'
import { assertFound, container, type Row, specErrors } from './pod-spec.fixture.js'
import { roundedResources } from './quantities.js'
import { canOvercommit, isExtended, isNative } from './resource-names.js'

const r = 'spec.containers[0].resources'

const rows: readonly Row<ResourceRequirements>[] = [
  { title: 'the usual', given: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', 'ephemeral-storage': '1G' } }, found: [] },
  { title: 'the same amount in other words', given: { limits: { cpu: '1' }, requests: { cpu: '1000m' } }, found: [] },
  {
    title: 'more asked for than allowed',
    given: { limits: { cpu: '1500m' }, requests: { cpu: '2' } },
    found: [`${r}.requests: Invalid value: "2": must be less than or equal to cpu limit`],
  },
  {
    title: 'a name that every object of the language knows',
    given: { requests: { constructor: '1' } as unknown as { readonly [name: string]: string } },
    found: [
      `${r}.requests[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified`,
      `${r}.requests[constructor]: Invalid value: "constructor": must be a standard resource for containers`,
    ],
  },
  {
    title: 'an unknown name and a negative amount',
    given: { limits: { mystery: '-1' } },
    found: ['limits', 'requests'].flatMap((list) => [
      `${r}.${list}[mystery]: Invalid value: "mystery": must be a standard resource type or fully qualified`,
      `${r}.${list}[mystery]: Invalid value: "mystery": must be a standard resource for containers`,
      `${r}.${list}[mystery]: Invalid value: "-1": must be greater than or equal to 0`,
    ]),
  },
  {
    title: 'half a piece',
    given: { limits: { 'example.com/gpu': '1500m' } },
    found: [
      `${r}.limits[example.com/gpu]: Invalid value: "1500m": must be an integer`,
      `${r}.requests[example.com/gpu]: Invalid value: "1500m": must be an integer`,
    ],
  },
  {
    title: 'fewer pieces asked for than allowed',
    given: { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } },
    found: [`${r}.requests: Invalid value: "1": must be equal to example.com/gpu limit`],
  },
  {
    title: 'pieces without a limit',
    given: { requests: { 'example.com/gpu': '1' } },
    found: [`${r}.limits: Required value: Limit must be set for non overcommitable resources`],
  },
  {
    title: 'huge pages alone and in parts',
    given: { limits: { 'hugepages-2Mi': '3Mi' } },
    found: [
      `${r}.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
      `${r}.requests[hugepages-2Mi]: Invalid value: "3Mi"`,
      `${r}: Forbidden: HugePages require cpu or memory`,
    ],
  },
  { title: 'huge pages with memory', given: { limits: { 'hugepages-2Mi': '4Mi', memory: '1Gi' } }, found: [] },
  {
    title: 'claims that the pod has not',
    given: { claims: [{ name: 'a' }, { name: 'a' }, {}, { name: 'b' }] },
    found: [
      `${r}.claims[1]: Duplicate value: "a"`,
      `${r}.claims[2]: Required value`,
      `${r}.claims[3]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a`,
    ],
  },
]

for (const { title, given, found } of rows) {
  test(`resources with ${title}`, () => {
    const spec: PodSpec = { resourceClaims: [{ name: 'a', source: { resourceClaimName: 'x' } }] }
    assertFound(specErrors({ ...spec, containers: [container({ resources: given })] }), found)
  })
}

test('overhead is checked as limits are', () => {
  assertFound(specErrors({ overhead: { cpu: '-1' } }), [
    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ])
})

test('a claim has one source and a name of its own', () => {
  const claims = [{ name: 'a', source: {} }, { name: 'a', source: { resourceClaimName: 'x', resourceClaimTemplateName: 'y' } }, {}]
  assertFound(specErrors({ resourceClaims: claims }), [
    'spec.resourceClaims[0].source: Invalid value: {}: must specify one of',
    'spec.resourceClaims[1].name: Duplicate value: "a"',
    'spec.resourceClaims[1].source: Invalid value: {"resourceClaimName":"x","resourceClaimTemplateName":"y"}: at most one of',
    'spec.resourceClaims[2].name: Required value',
    'spec.resourceClaims[2].source: Invalid value: {}: must specify one of',
  ])
})

test('resources of the system are native, others extended', () => {
  const identity = identityOf('kubernetes')
  for (const [name, native, extended] of [
    ['cpu', true, false],
    ['kubernetes.io/x', true, false],
    ['example.com/gpu', false, true],
    ['requests.example.com/gpu', false, false],
  ] as const) {
    assert.equal(isNative(name, identity), native, name)
    assert.equal(isExtended(name, identity), extended, name)
  }
  assert.equal(canOvercommit('hugepages-1Gi', identity), false)
})

test('amounts are rounded up to thousandths, and lists that need no rounding stay', () => {
  const coarse = Object.freeze({ cpu: '100m', memory: '1Gi', x: '2' })
  assert.equal(roundedResources(coarse), coarse)
  assert.deepEqual(roundedResources({ cpu: '100u', memory: '1Gi', y: '-1n' }), { cpu: '1m', memory: '1Gi', y: '-1m' })
})
