// Persistent volumes: defaults, one source with its coordinates, and what stays as it was made.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { expectErrors, usualContext } from '../expect-errors.fixture.js'
import { persistentVolume } from './persistent-volume.js'
import { validateInlineVolume } from './persistent-volume-rules.js'
import type { PersistentVolume, PersistentVolumeSpec } from './v1.schema.js'

const context = usualContext()
const metadata = { name: 'v', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const good: PersistentVolumeSpec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  persistentVolumeReclaimPolicy: 'Retain',
  volumeMode: 'Filesystem',
}
const make = (spec: PersistentVolumeSpec, more: Partial<PersistentVolume> = {}): PersistentVolume =>
  frozen({ metadata, spec: { ...good, ...spec }, status: { phase: 'Pending' }, ...more })

test('what a volume has when it does not say', () => {
  const complete = persistentVolume.defaults?.(
    frozen({ metadata, spec: { hostPath: { path: '/x' }, capacity: { storage: '1n' } } }) as PersistentVolume,
    context,
  )
  assert.deepEqual(complete, {
    metadata,
    spec: {
      hostPath: { path: '/x', type: '' },
      capacity: { storage: '1m' },
      persistentVolumeReclaimPolicy: 'Retain',
      volumeMode: 'Filesystem',
    },
    status: { phase: 'Pending' },
  })
  assert.ok(complete !== undefined)
  assert.equal(persistentVolume.defaults?.(complete, context), complete)
})

const sources: readonly { readonly title: string; readonly spec: PersistentVolumeSpec; readonly kept: object }[] = [
  { title: 'rbd', spec: { rbd: { pool: 'p' } }, kept: { rbd: { pool: 'p', user: 'admin', keyring: '/etc/ceph/keyring' } } },
  { title: 'iscsi', spec: { iscsi: {} }, kept: { iscsi: { iscsiInterface: 'default' } } },
  {
    title: 'azureDisk',
    spec: { azureDisk: { kind: 'Managed' } },
    kept: { azureDisk: { kind: 'Managed', cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false } },
  },
  { title: 'scaleIO', spec: { scaleIO: {} }, kept: { scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' } } },
]
for (const { title, spec, kept } of sources) {
  test(`defaults of ${title}`, () =>
    assert.deepEqual((persistentVolume.defaults?.(make(spec), context) as PersistentVolume | undefined)?.spec, { ...good, ...kept }))
}

const local = { path: '/mnt' }
const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }] } }
const rows: readonly { readonly title: string; readonly spec: PersistentVolumeSpec; readonly found: readonly string[] }[] = [
  { title: 'a path', spec: { hostPath: { path: '/x' } }, found: [] },
  {
    title: 'nothing at all',
    spec: { accessModes: [], capacity: {} },
    found: [
      'spec.accessModes: Required value',
      'spec.capacity: Required value',
      'spec.capacity: Unsupported value: {}: supported values: "storage"',
      'spec: Required value: must specify a volume type',
    ],
  },
  {
    title: 'two sources',
    spec: { hostPath: { path: '/x' }, nfs: {}, cephfs: {} },
    found: [
      'spec.nfs: Forbidden: may not specify more than 1 volume type',
      'spec.cephFS: Forbidden: may not specify more than 1 volume type',
    ],
  },
  {
    title: 'a flex volume beside another source',
    spec: { hostPath: { path: '/x' }, flexVolume: {}, azureFile: {} },
    found: ['spec.flexVolume.driver: Required value', 'spec.azureFile: Forbidden: may not specify more than 1 volume type'],
  },
  {
    title: 'words that mean nothing',
    spec: {
      capacity: { storage: '-1', cpu: '1' },
      accessModes: ['ReadSometimes', 'ReadWriteOncePod', 'ReadWriteMany'],
      persistentVolumeReclaimPolicy: 'Keep',
      volumeMode: 'Cube',
      storageClassName: 'Bad Class',
      hostPath: { path: '/a/../b', type: 'Odd' },
    },
    found: [
      'spec.accessModes: Unsupported value: "ReadSometimes": supported values: "ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce"',
      'spec.accessModes: Unsupported value: "ReadWriteOncePod"',
      'spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes',
      'spec.capacity: Unsupported value: {"storage":"-1","cpu":"1"}: supported values: "storage"',
      'spec.capacity[storage]: Invalid value: -1: must be a valid resource quantity',
      'spec.capacity[storage]: Invalid value: "-1": must be greater than zero',
      'spec.persistentVolumeReclaimPolicy: Unsupported value: "Keep": supported values: "Delete", "Recycle", "Retain"',
      'spec.hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
      'spec.hostPath.type: Unsupported value: "Odd"',
      'spec.storageClassName: Invalid value: "Bad Class"',
      'spec.volumeMode: Unsupported value: "Cube": supported values: "Block", "Filesystem"',
    ],
  },
  {
    title: 'a whole machine to be recycled',
    spec: { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
    found: ["spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'"],
  },
  { title: 'a folder on a node', spec: { local, nodeAffinity }, found: [] },
  { title: 'a folder on no node', spec: { local }, found: ['spec.nodeAffinity: Required value: Local volume requires node affinity'] },
  {
    title: 'an affinity without constraints',
    spec: { local, nodeAffinity: {} },
    found: ['spec.nodeAffinity.required: Required value: must specify required node constraints'],
  },
  {
    title: 'a driver without its coordinates',
    spec: { csi: { driver: '-', controllerPublishSecretRef: {}, nodePublishSecretRef: { name: 'S', namespace: 'n.s' } } },
    found: [
      'spec.csi.driver: Invalid value: "-"',
      'spec.csi.volumeHandle: Required value',
      'spec.csi.controllerPublishSecretRef.name: Required value',
      'spec.csi.controllerPublishSecretRef.namespace: Required value',
      'spec.csi.nodePublishSecretRef.name: Invalid value: "S"',
      'spec.csi.nodePublishSecretRef.namespace: Invalid value: "n.s"',
    ],
  },
  {
    title: 'a disk that is named elsewhere',
    spec: { gcePersistentDisk: { partition: 256 } },
    found: ['spec.persistentDisk.pdName: Required value', 'spec.persistentDisk.partition: Invalid value: 256'],
  },
  {
    title: 'secrets without a place',
    spec: { cinder: { volumeID: 'v', secretRef: {} } },
    found: ['spec.cinder.secretRef.name: Required value', 'spec.cinder.secretRef.namespace: Required value'],
  },
  {
    title: 'a share without a place',
    spec: { azureFile: { secretNamespace: '' } },
    found: [
      'spec.azureFile.secretName: Required value',
      'spec.azureFile.shareName: Required value',
      'spec.azureFile.secretNamespace: Required value',
    ],
  },
  {
    title: 'a cluster without a place',
    spec: { glusterfs: { endpoints: 'e', path: '/p', endpointsNamespace: '' } },
    found: ['spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set'],
  },
  {
    title: 'a target whose name is too long',
    spec: {
      iscsi: {
        targetPortal: 'x'.repeat(64),
        iqn: 'iqn.2015-02.example.com:test',
        initiatorName: 'iqn.2015-02.example.com:init',
        secretRef: {},
      },
    },
    found: ['spec.iscsi.targetportal: Invalid value: ', 'spec.iscsi.secretRef.name: Required value'],
  },
  {
    title: 'a target that is nowhere',
    spec: { iscsi: { iqn: 'abc', secretRef: {}, initiatorName: 'abc' } },
    found: [
      'spec.iscsi.targetPortal: Required value',
      'spec.iscsi.iqn: Invalid value: "abc": must be valid format',
      'spec.iscsi.secretRef.name: Required value',
      'spec.iscsi.initiatorname: Invalid value: "abc": must be valid format',
    ],
  },
]
for (const { title, spec, found } of rows)
  test(`create with ${title}`, () => expectErrors(validateCreation(persistentVolume, make(spec), context), found))

test('options of mounting as an annotation mean something to some sources only', () => {
  const annotated = { metadata: { ...metadata, annotations: { 'volume.beta.cluster.io/mount-options': 'ro' } } }
  expectErrors(validateCreation(persistentVolume, make({ nfs: { server: 's', path: '/p' } }, annotated), context), [])
  expectErrors(validateCreation(persistentVolume, make({ hostPath: { path: '/x' } }, annotated), context), [
    'metadata.annotations.volume.beta.cluster.io/mount-options: Forbidden: may not specify mount options for this volume type',
  ])
})

const csi = { driver: 'd.example', volumeHandle: 'h' }
const secret = { name: 's', namespace: 'n' }
const zone = (name: string) => ({ required: { nodeSelectorTerms: [{ matchExpressions: [{ key: name, operator: 'In', values: ['z'] }] }] } })
const changes: readonly {
  readonly title: string
  readonly old: PersistentVolumeSpec
  readonly next: PersistentVolumeSpec
  readonly found: readonly string[]
}[] = [
  {
    title: 'capacity, policy, class and claim',
    old: { csi },
    next: { csi, capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete', storageClassName: 'c', claimRef: { name: 'x' } },
    found: [],
  },
  {
    title: 'the source',
    old: { csi },
    next: { csi: { ...csi, volumeHandle: 'i' } },
    found: ['spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation'],
  },
  { title: 'the kind of source', old: { csi }, next: { local, nodeAffinity }, found: ['spec.persistentvolumesource: Forbidden'] },
  { title: 'a secret for growing, once', old: { csi }, next: { csi: { ...csi, controllerExpandSecretRef: secret } }, found: [] },
  {
    title: 'a secret for growing to another',
    old: { csi: { ...csi, controllerExpandSecretRef: secret } },
    next: { csi: { ...csi, controllerExpandSecretRef: { ...secret, name: 't' } } },
    found: ['spec.persistentvolumesource: Forbidden'],
  },
  {
    title: 'the mode',
    old: { csi },
    next: { csi, volumeMode: 'Block' },
    found: ['volumeMode: Invalid value: "Block": field is immutable'],
  },
  { title: 'an affinity, once', old: { csi }, next: { csi, nodeAffinity }, found: [] },
  {
    title: 'an affinity to none',
    old: { csi, nodeAffinity },
    next: { csi },
    found: ['nodeAffinity: Invalid value: "null": field is immutable, except for updating from beta label to GA'],
  },
  {
    title: 'a label to its newer name',
    old: { csi, nodeAffinity: zone('failure-domain.beta.cluster.io/zone') },
    next: { csi, nodeAffinity: zone('topology.cluster.io/zone') },
    found: [],
  },
  {
    title: 'a label back to its older name',
    old: { csi, nodeAffinity: zone('topology.cluster.io/zone') },
    next: { csi, nodeAffinity: zone('failure-domain.beta.cluster.io/zone') },
    found: ['nodeAffinity: Invalid value: {"required"'],
  },
  {
    title: 'a secret whose name is no label, where another one has such a name already',
    old: { csi: { ...csi, nodeStageSecretRef: { name: 'a.b', namespace: 'n' } } },
    next: {
      csi: { ...csi, nodeStageSecretRef: { name: 'a.b', namespace: 'n' }, controllerExpandSecretRef: { name: 'c.d', namespace: 'n' } },
    },
    found: [],
  },
  {
    title: 'a secret whose name is no label, where none has such a name',
    old: { csi },
    next: { csi: { ...csi, controllerExpandSecretRef: { name: 'c.d', namespace: 'n' } } },
    found: [
      'spec.csi.controllerExpandSecretRef.name: Invalid value: "c.d": a lowercase RFC 1123 label',
      'spec.csi.controllerExpandSecretRef.name: Invalid value: "c.d": a lowercase RFC 1123 label',
    ],
  },
  {
    title: 'to what is wrong, which is said twice',
    old: { csi },
    next: { csi, capacity: { storage: '0' } },
    found: [
      'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
      'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
    ],
  },
]
for (const { title, old, next, found } of changes) {
  test(`change ${title}`, () => expectErrors(validateChange(persistentVolume, { next: make(next), old: make(old) }, context), found))
}

test('inside an attachment a volume is a driver and little else', () => {
  const rules = { field: 'spec', volumeName: '', context }
  expectErrors(validateInlineVolume({ accessModes: ['ReadWriteOnce'], csi }, rules), [])
  expectErrors(
    validateInlineVolume(
      { ...good, volumeMode: 'Block', persistentVolumeReclaimPolicy: 'Delete', claimRef: {}, nodeAffinity: {}, storageClassName: 'c' },
      rules,
    ),
    [
      'spec.claimRef: Forbidden: may not be specified in the context of inline volumes',
      'spec.capacity: Forbidden: may not be specified in the context of inline volumes',
      'spec.csi: Required value: has to be specified in the context of inline volumes',
      'spec.persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the context of inline volumes',
      'spec.nodeAffinity: Forbidden: may not be specified in the context of inline volumes',
      'spec: Required value: must specify a volume type',
      'spec.storageClassName: Forbidden: may not be specified in the context of inline volumes',
      'spec.volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context of inline volumes',
    ],
  )
})

test('a gated secret is dropped unless it was there, and each door writes its part', () => {
  const gated = { csi: { ...csi, nodeExpandSecretRef: secret } }
  const [sent, plain] = [make(gated, { status: { phase: 'Bound' } }), make({ csi })]
  assert.deepEqual(persistentVolume.prepareCreate?.(sent, context), plain)
  assert.deepEqual(persistentVolume.prepareUpdate?.(sent, plain, context), plain)
  assert.deepEqual(persistentVolume.prepareUpdate?.(sent, make(gated), context), make(gated))
  const [status] = persistentVolume.subresources ?? []
  assert.deepEqual(status?.prepareUpdate(sent, plain, context), make({ csi }, { status: { phase: 'Bound' } }))
})

test('rows of the table', () => {
  const bound = make(
    { csi, claimRef: { namespace: 'shop', name: 'c' }, storageClassName: 'gold', accessModes: ['ReadWriteMany', 'ReadWriteOnce'] },
    { status: { phase: 'Bound', reason: 'R' } },
  )
  assert.deepEqual(persistentVolume.table?.cells(bound, context), [
    'v',
    '1Gi',
    'RWO,RWX',
    'Retain',
    'Bound',
    'shop/c',
    'gold',
    'R',
    '60m',
    'Filesystem',
  ])
  const going = frozen({
    metadata: { ...metadata, deletionTimestamp: '2024-03-01T11:00:00Z', annotations: { 'volume.beta.cluster.io/storage-class': 'old' } },
  })
  assert.deepEqual(persistentVolume.table?.cells(going, context), ['v', '0', '', '', 'Terminating', '', 'old', '', '60m', '<unset>'])
})
