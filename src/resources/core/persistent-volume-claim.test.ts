// Claims: defaults, where data comes from, what may change before and after a volume is found.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { persistentVolumeClaim } from './persistent-volume-claim.js'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec, PersistentVolumeClaimStatus } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'c', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const sized = (storage: string) => ({ requests: { storage } })
const good: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: sized('1Gi'), volumeMode: 'Filesystem' }
const make = (
  spec: PersistentVolumeClaimSpec = {},
  status: PersistentVolumeClaimStatus = { phase: 'Pending' },
  annotations?: { [key: string]: string },
): PersistentVolumeClaim =>
  frozen({ metadata: annotations === undefined ? metadata : { ...metadata, annotations }, spec: { ...good, ...spec }, status })

test('what a claim has when it does not say', () => {
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
const abroad = { ...claim, namespace: 'b' }
type Sources = Pick<PersistentVolumeClaimSpec, 'dataSource' | 'dataSourceRef'>
const fillings: readonly { readonly title: string; readonly sent: Sources; readonly kept: Sources; readonly gates?: 'all' }[] = [
  { title: 'nothing', sent: {}, kept: {} },
  { title: 'a claim, the old way', sent: { dataSource: claim }, kept: { dataSource: claim, dataSourceRef: claim } },
  { title: 'a snapshot, the new way', sent: { dataSourceRef: snapshot }, kept: { dataSource: snapshot, dataSourceRef: snapshot } },
  { title: 'something else, the old way, which is dropped', sent: { dataSource: other }, kept: {} },
  { title: 'something else, the new way', sent: { dataSourceRef: other }, kept: { dataSource: other, dataSourceRef: other } },
  {
    title: 'both ways at odds, to be refused',
    sent: { dataSource: other, dataSourceRef: claim },
    kept: { dataSource: other, dataSourceRef: claim },
  },
  { title: 'a claim abroad, which is not ready yet', sent: { dataSourceRef: abroad }, kept: {} },
  { title: 'a claim abroad, where it is', sent: { dataSourceRef: abroad }, kept: { dataSourceRef: abroad }, gates: 'all' },
]
for (const { title, sent, kept, gates } of fillings) {
  test(`filled with ${title}`, () => {
    const prepared = persistentVolumeClaim.prepareCreate?.(make(sent, { phase: 'Bound' }), gates === 'all' ? testContext() : context)
    assert.deepEqual(prepared, make(kept))
  })
}

const rows: readonly { readonly title: string; readonly spec: PersistentVolumeClaimSpec; readonly found: readonly string[] }[] = [
  { title: 'all that it needs', spec: { storageClassName: '' }, found: [] },
  {
    title: 'nothing',
    spec: { accessModes: [], resources: {} },
    found: ['spec.accessModes: Required value: at least 1 access mode is required', 'spec.resources[storage]: Required value'],
  },
  {
    title: 'words that mean nothing',
    spec: {
      accessModes: ['Never'],
      resources: sized('0'),
      volumeMode: 'Cube',
      storageClassName: 'Bad Class',
      selector: { matchExpressions: [{ key: 'a', operator: 'Gt' }] },
    },
    found: [
      'spec.selector.matchExpressions[0].operator: Invalid value: "Gt": not a valid selector operator',
      'spec.accessModes: Unsupported value: "Never"',
      'spec.resources[storage]: Invalid value: "0": must be greater than zero',
      'spec.storageClassName: Invalid value: "Bad Class"',
      'spec.volumeMode: Unsupported value: "Cube"',
    ],
  },
  {
    title: 'sources at odds',
    spec: { dataSource: other, dataSourceRef: claim },
    found: ['spec: Invalid value: "spec.dataSource": must match dataSourceRef'],
  },
]
for (const { title, spec, found } of rows)
  test(`create with ${title}`, () => expectErrors(validateCreation(persistentVolumeClaim, make(spec), context), found))

const immutable = 'spec: Forbidden: spec is immutable after creation except resources.requests for bound claims'
const smaller = 'spec.resources.requests.storage: Forbidden: field can not be less than previous value'
const bound = { phase: 'Bound', capacity: { storage: '1Gi' } }
const annotation = 'volume.beta.cluster.io/storage-class'
const gold = { [annotation]: 'gold' }
const changes: readonly {
  readonly title: string
  readonly next: PersistentVolumeClaim
  readonly old: PersistentVolumeClaim
  readonly found: readonly string[]
}[] = [
  { title: 'nothing', next: make(), old: make(), found: [] },
  { title: 'the volume, once', next: make({ volumeName: 'v' }), old: make(), found: [] },
  { title: 'the volume to another', next: make({ volumeName: 'w' }), old: make({ volumeName: 'v' }), found: [immutable] },
  { title: 'the modes', next: make({ accessModes: ['ReadOnlyMany'] }), old: make(), found: [immutable] },
  { title: 'the size while unbound', next: make({ resources: sized('2Gi') }), old: make(), found: [immutable] },
  { title: 'the size once bound', next: make({ resources: sized('2Gi') }, bound), old: make({}, bound), found: [] },
  { title: 'to less', next: make({ resources: sized('1Mi') }, bound), old: make({}, bound), found: [smaller] },
  { title: 'the size in another spelling', next: make({ resources: sized('1024Mi') }, bound), old: make({}, bound), found: [] },
  {
    title: 'the mode',
    next: make({ volumeMode: 'Block' }),
    old: make(),
    found: [immutable, 'volumeMode: Invalid value: "Block": field is immutable'],
  },
  { title: 'the class, once', next: make({ storageClassName: 'gold' }), old: make(), found: [] },
  { title: 'the class to another', next: make({ storageClassName: 'gold' }), old: make({ storageClassName: '' }), found: [immutable] },
  { title: 'the class away', next: make(), old: make({ storageClassName: 'gold' }), found: [immutable] },
  {
    title: 'the class from annotation to field',
    next: make({ storageClassName: 'gold' }),
    old: make({}, { phase: 'Pending' }, gold),
    found: [],
  },
  {
    title: 'the class in the annotation',
    next: make({}, { phase: 'Pending' }, { [annotation]: 'lead' }),
    old: make({}, { phase: 'Pending' }, gold),
    found: [`metadata.annotations.${annotation}: Invalid value: "lead": field is immutable`],
  },
  {
    title: 'the class to another than the annotation says',
    next: make({ storageClassName: 'lead' }, { phase: 'Pending' }, gold),
    old: make({}, { phase: 'Pending' }, gold),
    found: [immutable],
  },
]
for (const { title, next, old, found } of changes) {
  test(`change ${title}`, () => expectErrors(validateChange(persistentVolumeClaim, { next, old }, context), found))
}

test('where a failed resize may be taken back, it may go down to what there is, and not further', () => {
  const old = make({ resources: sized('3Gi') }, { ...bound, resizeStatus: 'NodeExpansionFailed' })
  const shrunk = (size: string) => ({ next: make({ resources: sized(size) }, bound), old })
  expectErrors(validateChange(persistentVolumeClaim, shrunk('2Gi'), context), [])
  expectErrors(validateChange(persistentVolumeClaim, shrunk('1Gi'), context), [
    'spec.resources.requests.storage: Forbidden: field can not be less than status.capacity',
  ])
})

const [door] = persistentVolumeClaim.subresources ?? []

test('the status has its own door, and some of it is not ready for everybody', () => {
  assert.ok(door !== undefined)
  const sent = make({ volumeName: 'v' }, { ...bound, allocatedResources: { storage: '2Gi' }, resizeStatus: 'NodeExpansionPending' })
  assert.deepEqual(door.prepareUpdate(sent, make(), context), make({}, bound))
  assert.deepEqual(door.prepareUpdate(sent, make(), testContext()), make({}, sent.status ?? {}))
  assert.deepEqual(persistentVolumeClaim.prepareUpdate?.(sent, make(), context), make({ volumeName: 'v' }))
})

test('a status that is wrong', () => {
  assert.ok(door !== undefined)
  const next = make(
    { accessModes: [] },
    { capacity: { storage: '-1' }, resizeStatus: 'Odd', allocatedResources: { cpu: '1', storage: '-1' } },
  )
  expectErrors(validateChange(persistentVolumeClaim, { next, old: make(), subresource: door }, testContext()), [
    'Spec.accessModes: Required value',
    'status.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
    'status.resizeStatus: Unsupported value: "Odd"',
    'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
    'status.allocatedResources[storage]: Invalid value: -1: must be a valid resource quantity',
  ])
})

test('rows of the table', () => {
  const found = make({ volumeName: 'v', storageClassName: 'gold' }, { ...bound, accessModes: ['ReadOnlyMany'] })
  assert.deepEqual(persistentVolumeClaim.table?.cells(found, context), ['c', 'Bound', 'v', '1Gi', 'ROX', 'gold', '60m', 'Filesystem'])
  assert.deepEqual(persistentVolumeClaim.table?.cells(make({}, bound), context), ['c', 'Bound', '', '', '', '', '60m', 'Filesystem'])
})
