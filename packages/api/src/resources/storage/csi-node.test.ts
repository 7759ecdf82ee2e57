// Tests of CSINodes and CSIStorageCapacities.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../expect-errors.fixture.js'
import { csiNode, csiStorageCapacity } from './csi.js'
import type { CSINode, CSINodeDriver, CSIStorageCapacity } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'n', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (...drivers: readonly CSINodeDriver[]): CSINode => frozen({ metadata, spec: { drivers } })
const driver = { name: 'd.example', nodeID: 'i' }

const rows: readonly (readonly [drivers: readonly CSINodeDriver[], ...expected: readonly string[]])[] = [
  [[]],
  [[{ ...driver, allocatable: { count: 0 }, topologyKeys: ['a.b/zone'] }]],
  [[{}], 'spec.drivers[0].name: Required value', 'spec.drivers[0].name: Invalid value: ""', 'spec.drivers[0].nodeID: Required value'],
  [
    [driver, { ...driver, nodeID: 'x'.repeat(257), allocatable: { count: -1 }, topologyKeys: ['k', 'k', ''] }],
    'spec.drivers[1].nodeID: Invalid value: "xxx',
    'spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
    'spec.drivers[1].name: Duplicate value: "d.example"',
    'spec.drivers[1]: Duplicate value: "k"',
    'spec.drivers[1]: Required value',
    'spec.drivers[1]: Invalid value: "": name part must be non-empty',
    'spec.drivers[1]: Invalid value: "": name part must consist of',
  ],
]
for (const [drivers, ...expected] of rows)
  test(`drivers: ${rowTitle(drivers, expected)}`, () => expectErrors(validateCreation(csiNode, make(...drivers), context), expected))

test('drivers may be added and removed, not changed', () => {
  const other = { name: 'e.example', nodeID: 'j' }
  expectErrors(validateChange(csiNode, { next: make(other), old: make(driver) }, context), [])
  expectErrors(validateChange(csiNode, { next: make({ ...driver, nodeID: 'k' }, other), old: make(driver) }, context), [
    'CSINodeDriver: Invalid value: {"name":"d.example","nodeID":"k"}: field is immutable',
  ])
})

test('printer columns count drivers', () => assert.deepEqual(csiNode.table?.cells(make(driver), context), ['n', 1, '60m']))

const capacity = (more: CSIStorageCapacity): CSIStorageCapacity =>
  frozen({ metadata: { ...metadata, namespace: 'shop' }, storageClassName: 'c', ...more })
const capacities: readonly (readonly [object: CSIStorageCapacity, ...expected: readonly string[]])[] = [
  [{ capacity: '1Gi', maximumVolumeSize: '0', nodeTopology: { matchLabels: { a: 'b' } } }],
  [
    { storageClassName: '', capacity: '-1', maximumVolumeSize: '-1Gi', nodeTopology: { matchExpressions: [{ key: 'a', operator: 'In' }] } },
    "nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
    'storageClassName: Invalid value: ""',
    'capacity: Invalid value: "-1": must be greater than or equal to 0',
  ],
]
for (const [object, ...expected] of capacities) {
  // A create is validated twice.
  test(`capacity: ${rowTitle(object, expected)}`, () =>
    expectErrors(validateCreation(csiStorageCapacity, capacity(object), context), [...expected, ...expected]))
}

test('nodeTopology and storageClassName are immutable, the capacity may change', () => {
  const old = capacity({ capacity: '1Gi' })
  expectErrors(validateChange(csiStorageCapacity, { next: capacity({ capacity: '2Gi' }), old }, context), [])
  expectErrors(validateChange(csiStorageCapacity, { next: capacity({ storageClassName: 'd', nodeTopology: {} }), old }, context), [
    'nodeTopology: Invalid value: {}: field is immutable',
    'storageClassName: Invalid value: "d": field is immutable',
  ])
  const { storageClassName: _, ...rest } = old
  expectErrors(validateChange(csiStorageCapacity, { next: rest, old }, context), [
    'storageClassName: Invalid value: "": a lowercase RFC 1123 subdomain',
    'storageClassName: Invalid value: "": field is immutable',
  ])
})

test('v1beta1 is deprecated', () => {
  assert.deepEqual(
    csiStorageCapacity.versions.map(({ name, stored, deprecation }) => [name, stored, deprecation?.removedIn]),
    [
      ['v1', true, undefined],
      ['v1beta1', undefined, '1.27'],
    ],
  )
})
