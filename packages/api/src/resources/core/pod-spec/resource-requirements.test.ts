// Tests of resource requests, limits, claims and resource names.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '../../../api/identity.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { PodSpec, ResourceRequirements } from '../v1.schema.js'
import { container, type Row, specErrors } from './pod-spec.fixture.js'
import { canOvercommit, isExtended, isNative, roundedResources } from './resource-requirements.js'

const resourcesPath = 'spec.containers[0].resources'

const rows: readonly Row<ResourceRequirements>[] = [
  [{ limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '100m', 'ephemeral-storage': '1G' } }],
  [{ limits: { cpu: '1' }, requests: { cpu: '1000m' } }],
  [
    { limits: { cpu: '1500m' }, requests: { cpu: '2' } },
    `${resourcesPath}.requests: Invalid value: "2": must be less than or equal to cpu limit`,
  ],
  [
    { requests: { constructor: '1' } as unknown as { readonly [name: string]: string } },
    `${resourcesPath}.requests[constructor]: Invalid value: "constructor": must be a standard resource type or fully qualified`,
    `${resourcesPath}.requests[constructor]: Invalid value: "constructor": must be a standard resource for containers`,
  ],
  [
    { limits: { mystery: '-1' } },
    ...['limits', 'requests'].flatMap((list) => [
      `${resourcesPath}.${list}[mystery]: Invalid value: "mystery": must be a standard resource type or fully qualified`,
      `${resourcesPath}.${list}[mystery]: Invalid value: "mystery": must be a standard resource for containers`,
      `${resourcesPath}.${list}[mystery]: Invalid value: "-1": must be greater than or equal to 0`,
    ]),
  ],
  [
    { limits: { 'example.com/gpu': '1500m' } },
    `${resourcesPath}.limits[example.com/gpu]: Invalid value: "1500m": must be an integer`,
    `${resourcesPath}.requests[example.com/gpu]: Invalid value: "1500m": must be an integer`,
  ],
  [
    { limits: { 'example.com/gpu': '2' }, requests: { 'example.com/gpu': '1' } },
    `${resourcesPath}.requests: Invalid value: "1": must be equal to example.com/gpu limit`,
  ],
  [{ requests: { 'example.com/gpu': '1' } }, `${resourcesPath}.limits: Required value: Limit must be set for non overcommitable resources`],
  [
    { limits: { 'hugepages-2Mi': '3Mi' } },
    `${resourcesPath}.limits[hugepages-2Mi]: Invalid value: "3Mi": 3Mi is not positive integer multiple of hugepages-2Mi`,
    `${resourcesPath}.requests[hugepages-2Mi]: Invalid value: "3Mi"`,
    `${resourcesPath}: Forbidden: HugePages require cpu or memory`,
  ],
  [{ limits: { 'hugepages-2Mi': '4Mi', memory: '1Gi' } }],
  [
    { claims: [{ name: 'a' }, { name: 'a' }, {}, { name: 'b' }] },
    `${resourcesPath}.claims[1]: Duplicate value: "a"`,
    `${resourcesPath}.claims[2]: Required value`,
    `${resourcesPath}.claims[3]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a`,
  ],
]

for (const [given, ...expected] of rows) {
  test(`resources: ${rowTitle(given, expected)}`, () => {
    const spec: PodSpec = { resourceClaims: [{ name: 'a', source: { resourceClaimName: 'x' } }] }
    expectErrors(specErrors({ ...spec, containers: [container({ resources: given })] }), expected)
  })
}

test('overhead is validated like limits', () => {
  expectErrors(specErrors({ overhead: { cpu: '-1' } }), [
    'spec.overhead.limits[cpu]: Invalid value: "-1": must be greater than or equal to 0',
  ])
})

test('a resource claim has one source and a unique name', () => {
  const claims = [{ name: 'a', source: {} }, { name: 'a', source: { resourceClaimName: 'x', resourceClaimTemplateName: 'y' } }, {}]
  expectErrors(specErrors({ resourceClaims: claims }), [
    'spec.resourceClaims[0].source: Invalid value: {}: must specify one of',
    'spec.resourceClaims[1].name: Duplicate value: "a"',
    'spec.resourceClaims[1].source: Invalid value: {"resourceClaimName":"x","resourceClaimTemplateName":"y"}: at most one of',
    'spec.resourceClaims[2].name: Required value',
    'spec.resourceClaims[2].source: Invalid value: {}: must specify one of',
  ])
})

test("resources of the system's domain are native, others extended", () => {
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

test('quantities are rounded up to thousandths; unchanged lists are returned as they are', () => {
  const unchanged = Object.freeze({ cpu: '100m', memory: '1Gi', x: '2' })
  assert.equal(roundedResources(unchanged), unchanged)
  assert.deepEqual(roundedResources({ cpu: '100u', memory: '1Gi', y: '-1n' }), { cpu: '1m', memory: '1Gi', y: '-1m' })
})
