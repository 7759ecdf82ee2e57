// Tests of PersistentVolumeClaims: defaults, data sources, updates before and after binding, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../../expect-errors.fixture.js'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from '../v1.schema.js'
import { persistentVolumeClaim } from './persistent-volume-claim.js'

const context = usualContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const sized = (storage: string) => ({ requests: { storage } })
const valid: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: sized('1Gi'), volumeMode: 'Filesystem' }
const make = (
  spec: PersistentVolumeClaimSpec = {},
  status: PersistentVolumeClaimStatus = { phase: 'Pending' },
  annotations?: { [key: string]: string },
): PersistentVolumeClaim =>
  frozen({ metadata: annotations === undefined ? metadata : { ...metadata, annotations }, spec: { ...valid, ...spec }, status })

test('defaults', () => {
  const complete = persistentVolumeClaim.defaults?.(
    frozen({ metadata, spec: { resources: sized('1n') } }) as PersistentVolumeClaim,
    context,
  )
  assert.deepEqual(complete, { metadata, spec: { resources: sized('1m'), volumeMode: 'Filesystem' }, status: { phase: 'Pending' } })
  assert.ok(complete !== undefined)
  assert.equal(persistentVolumeClaim.defaults?.(complete, context), complete)
})

const claim = { kind: 'PersistentVolumeClaim', name: 'a' }
const snapshot = { apiGroup: 'snapshot.storage.cluster.io', kind: 'VolumeSnapshot', name: 'a' }
const other = { apiGroup: 'example.com', kind: 'Thing', name: 'a' }
const crossNamespace = { ...claim, namespace: 'b' }
type Sources = Pick<PersistentVolumeClaimSpec, 'dataSource' | 'dataSourceRef'>
const dataSourceRows: readonly (readonly [title: string, sent: Sources, kept: Sources, gates?: 'all' | undefined])[] = [
  ['none', {}, {}],
  ['a claim in dataSource is copied to dataSourceRef', { dataSource: claim }, { dataSource: claim, dataSourceRef: claim }],
  ['a snapshot in dataSourceRef is copied to dataSource', { dataSourceRef: snapshot }, { dataSource: snapshot, dataSourceRef: snapshot }],
  ['a custom kind in dataSource is dropped', { dataSource: other }, {}],
  ['a custom kind in dataSourceRef is copied to dataSource', { dataSourceRef: other }, { dataSource: other, dataSourceRef: other }],
  ['contradicting sources stay for validation', { dataSource: other, dataSourceRef: claim }, { dataSource: other, dataSourceRef: claim }],
  ['a claim in another namespace is dropped without the feature gate', { dataSourceRef: crossNamespace }, {}],
  [
    'a claim in another namespace is kept with the feature gate',
    { dataSourceRef: crossNamespace },
    { dataSourceRef: crossNamespace },
    'all',
  ],
]
for (const [title, sent, kept, gates] of dataSourceRows) {
  test(`data source: ${title}`, () => {
    const prepared = persistentVolumeClaim.prepareCreate?.(make(sent, { phase: 'Bound' }), gates === 'all' ? testContext() : context)
    assert.deepEqual(prepared, make(kept))
  })
}

const rows: readonly (readonly [spec: PersistentVolumeClaimSpec, ...expected: readonly string[]])[] = [
  [{ storageClassName: '' }],
  [
    { accessModes: [], resources: {} },
    'spec.accessModes: Required value: at least 1 access mode is required',
    'spec.resources[storage]: Required value',
  ],
  [
    {
      accessModes: ['Never'],
      resources: sized('0'),
      volumeMode: 'Cube',
      storageClassName: 'Bad Class',
      selector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] },
    },
    'spec.selector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
    'spec.accessModes: Unsupported value: "Never"',
    'spec.resources[storage]: Invalid value: "0": must be greater than zero',
    'spec.storageClassName: Invalid value: "Bad Class"',
    'spec.volumeMode: Unsupported value: "Cube"',
  ],
  [{ dataSource: other, dataSourceRef: claim }, 'spec: Invalid value: "spec.dataSource": must match dataSourceRef'],
]
for (const [spec, ...expected] of rows)
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(persistentVolumeClaim, make(spec), context), expected))

const immutable = 'spec: Forbidden: spec is immutable after creation except resources.requests for bound claims'
const smaller = 'spec.resources.requests.storage: Forbidden: field can not be less than previous value'
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
const annotation = 'volume.beta.cluster.io/storage-class'
const gold = { [annotation]: 'gold' }
const changes: readonly (readonly [next: PersistentVolumeClaim, old: PersistentVolumeClaim, ...expected: readonly string[]])[] = [
  [make(), make()],
  [make({ volumeName: 'v' }), make()],
  [make({ volumeName: 'w' }), make({ volumeName: 'v' }), immutable],
  [make({ accessModes: ['ReadOnlyMany'] }), make(), immutable],
  [make({ resources: sized('2Gi') }), make(), immutable],
  [make({ resources: sized('2Gi') }, bound), make({}, bound)],
  [make({ resources: sized('1Mi') }, bound), make({}, bound), smaller],
  [make({ resources: sized('1024Mi') }, bound), make({}, bound)],
  [make({ volumeMode: 'Block' }), make(), immutable, 'volumeMode: Invalid value: "Block": field is immutable'],
  [make({ storageClassName: 'gold' }), make()],
  [make({ storageClassName: 'gold' }), make({ storageClassName: '' }), immutable],
  [make(), make({ storageClassName: 'gold' }), immutable],
  [make({ storageClassName: 'gold' }), make({}, { phase: 'Pending' }, gold)],
  [
    make({}, { phase: 'Pending' }, { [annotation]: 'lead' }),
    make({}, { phase: 'Pending' }, gold),
    `metadata.annotations.${annotation}: Invalid value: "lead": field is immutable`,
  ],
  [make({ storageClassName: 'lead' }, { phase: 'Pending' }, gold), make({}, { phase: 'Pending' }, gold), immutable],
]
for (const [next, old, ...expected] of changes) {
  test(`update: ${rowTitle(next, expected)}`, () => expectErrors(validateChange(persistentVolumeClaim, { next, old }, context), expected))
}

test('a failed expansion may be reduced to the current capacity, not below', () => {
  const old = make({ resources: sized('3Gi') }, { ...bound, resizeStatus: 'NodeExpansionFailed' })
  const shrunk = (size: string) => ({ next: make({ resources: sized(size) }, bound), old })
  expectErrors(validateChange(persistentVolumeClaim, shrunk('2Gi'), context), [])
  expectErrors(validateChange(persistentVolumeClaim, shrunk('1Gi'), context), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ])
})

const [statusSubresource] = persistentVolumeClaim.subresources ?? []

test('the status subresource keeps the spec, and drops feature-gated fields', () => {
  assert.ok(statusSubresource !== undefined)
  const sent = make({ volumeName: 'v' }, { ...bound, allocatedResources: { storage: '2Gi' }, resizeStatus: 'NodeExpansionPending' })
  assert.deepEqual(statusSubresource.prepareUpdate(sent, make(), context), make({}, bound))
  assert.deepEqual(statusSubresource.prepareUpdate(sent, make(), testContext()), make({}, sent.status ?? {}))
  assert.deepEqual(persistentVolumeClaim.prepareUpdate?.(sent, make(), context), make({ volumeName: 'v' }))
})

test('the status is validated', () => {
  assert.ok(statusSubresource !== undefined)
  const next = make(
    { accessModes: [] },
    { capacity: { storage: '-1' }, resizeStatus: 'Odd', allocatedResources: { cpu: '1', storage: '-1' } },
  )
  expectErrors(validateChange(persistentVolumeClaim, { next, old: make(), subresource: statusSubresource }, testContext()), [
    'Spec.accessModes: Required value',
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'status.resizeStatus: Unsupported value: "Odd"',
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
  ])
})

test('printer columns', () => {
  const claim = make({ volumeName: 'v', storageClassName: 'gold' }, { ...bound, accessModes: ['ReadOnlyMany'] })
  assert.deepEqual(persistentVolumeClaim.table?.cells(claim, context), ['c', 'Bound', 'v', '1Gi', 'ROX', 'gold', '60m', 'Filesystem'])
  assert.deepEqual(persistentVolumeClaim.table?.cells(make({}, bound), context), ['c', 'Bound', '', '', '', '', '60m', 'Filesystem'])
})
