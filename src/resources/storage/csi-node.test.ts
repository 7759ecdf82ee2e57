// Drivers on a node, and how much storage is left: what must be said, and what stays.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { csiNode } from './csi-node.js'
import { csiStorageCapacity } from './csi-storage-capacity.js'
import type { CSINode, CSINodeDriver, CSIStorageCapacity } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'n', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const make = (...drivers: readonly CSINodeDriver[]): CSINode => frozen({ metadata, spec: { drivers } })
const driver = { name: 'd.example', nodeID: 'i' }

const rows: readonly { readonly title: string; readonly drivers: readonly CSINodeDriver[]; readonly found: readonly string[] }[] = [
  { title: 'none', drivers: [], found: [] },
  { title: 'in full', drivers: [{ ...driver, allocatable: { count: 0 }, topologyKeys: ['a.b/zone'] }], found: [] },
  {
    title: 'without anything',
    drivers: [{}],
    found: ['spec.drivers[0].name: Required value', 'spec.drivers[0].name: Invalid value: ""', 'spec.drivers[0].nodeID: Required value'],
  },
  {
    title: 'repeated and out of bounds',
    drivers: [driver, { ...driver, nodeID: 'x'.repeat(257), allocatable: { count: -1 }, topologyKeys: ['k', 'k', ''] }],
    found: [
      'spec.drivers[1].nodeID: Invalid value: "xxx',
      'spec.drivers[1].allocatable.count: Invalid value: -1: must be greater than or equal to 0',
      'spec.drivers[1].name: Duplicate value: "d.example"',
      'spec.drivers[1]: Duplicate value: "k"',
      'spec.drivers[1]: Required value',
      'spec.drivers[1]: Invalid value: ["k","k",""]: name part must be non-empty',
      'spec.drivers[1]: Invalid value: ["k","k",""]: name part must consist of',
    ],
  },
]
for (const { title, drivers, found } of rows)
  test(`drivers ${title}`, () => expectErrors(validateCreation(csiNode, make(...drivers), context), found))

test('drivers come and go, but do not change', () => {
  const other = { name: 'e.example', nodeID: 'j' }
  expectErrors(validateChange(csiNode, { next: make(other), old: make(driver) }, context), [])
  expectErrors(validateChange(csiNode, { next: make({ ...driver, nodeID: 'k' }, other), old: make(driver) }, context), [
    'CSINodeDriver: Invalid value: {"name":"d.example","nodeID":"k"}: field is immutable',
  ])
})

test('a row of the table counts drivers', () => assert.deepEqual(csiNode.table?.cells(make(driver), context), ['n', 1, '60m']))

const capacity = (more: CSIStorageCapacity): CSIStorageCapacity =>
  frozen({ metadata: { ...metadata, namespace: 'shop' }, storageClassName: 'c', ...more })
const capacities: readonly { readonly title: string; readonly object: CSIStorageCapacity; readonly found: readonly string[] }[] = [
  { title: 'in full', object: { capacity: '1Gi', maximumVolumeSize: '0', nodeTopology: { matchLabels: { a: 'b' } } }, found: [] },
  {
    title: 'that is wrong',
    object: {
      storageClassName: '',
      capacity: '-1',
      maximumVolumeSize: '-1Gi',
      nodeTopology: { matchExpressions: [{ key: 'a', operator: 'In' }] },
    },
    found: [
      "nodeTopology.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
      'storageClassName: Invalid value: ""',
      'capacity: Invalid value: "-1": must be greater than or equal to 0',
    ],
  },
]
for (const { title, object, found } of capacities) {
  // A new one is looked at twice.
  test(`capacity ${title}`, () => expectErrors(validateCreation(csiStorageCapacity, capacity(object), context), [...found, ...found]))
}

test('what was asked for stays, the answer changes', () => {
  const old = capacity({ capacity: '1Gi' })
  expectErrors(validateChange(csiStorageCapacity, { next: capacity({ capacity: '2Gi' }), old }, context), [])
  expectErrors(validateChange(csiStorageCapacity, { next: capacity({ storageClassName: 'd', nodeTopology: {} }), old }, context), [
    'nodeTopology: Invalid value: {}: field is immutable',
    'storageClassName: Invalid value: "d": field is immutable',
  ])
})

test('the older version is on its way out', () => {
  assert.deepEqual(
    csiStorageCapacity.versions.map(({ name, stored, deprecation }) => [name, stored, deprecation?.removedIn]),
    [
      ['v1', true, undefined],
      ['v1beta1', undefined, '1.27'],
    ],
  )
})
