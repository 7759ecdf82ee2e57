// Tests of PersistentVolumes: defaults, sources, immutable fields, printer columns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../../api/validation/validate-write.js'
import { expectErrors, rowTitle, usualContext } from '../../expect-errors.fixture.js'
import type { PersistentVolume, PersistentVolumeSpec } from '../v1.schema.js'
import { persistentVolume } from './persistent-volume.js'
import { validateInlineVolume } from './persistent-volume-validation.js'

const context = usualContext()
const metadata = { name: 'v', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const valid: PersistentVolumeSpec = {
  capacity: { storage: '1Gi' },
  accessModes: ['ReadWriteOnce'],
  persistentVolumeReclaimPolicy: 'Retain',
  volumeMode: 'Filesystem',
}
const make = (spec: PersistentVolumeSpec, more: Partial<PersistentVolume> = {}): PersistentVolume =>
  frozen({ metadata, spec: { ...valid, ...spec }, status: { phase: 'Pending' }, ...more })

test('defaults', () => {
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

const sources: readonly (readonly [title: string, spec: PersistentVolumeSpec, kept: object])[] = [
  ['rbd', { rbd: { pool: 'p' } }, { rbd: { pool: 'p', user: 'admin', keyring: '/etc/ceph/keyring' } }],
  ['iscsi', { iscsi: {} }, { iscsi: { iscsiInterface: 'default' } }],
  [
    'azureDisk',
    { azureDisk: { kind: 'Managed' } },
    { azureDisk: { kind: 'Managed', cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false } },
  ],
  ['scaleIO', { scaleIO: {} }, { scaleIO: { storageMode: 'ThinProvisioned', fsType: 'xfs' } }],
]
for (const [title, spec, kept] of sources) {
  test(`defaults of ${title}`, () =>
    assert.deepEqual((persistentVolume.defaults?.(make(spec), context) as PersistentVolume | undefined)?.spec, { ...valid, ...kept }))
}

const local = { path: '/mnt' }
const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'k', operator: 'In', values: ['v'] }] }] } }
const rows: readonly (readonly [spec: PersistentVolumeSpec, ...expected: readonly string[]])[] = [
  [{ hostPath: { path: '/x' } }],
  [
    { accessModes: [], capacity: {} },
    'spec.accessModes: Required value',
    'spec.capacity: Required value',
    'spec.capacity: Unsupported value: {}: supported values: "storage"',
    'spec: Required value: must specify a volume type',
  ],
  [
    { hostPath: { path: '/x' }, nfs: {}, cephfs: {} },
    'spec.nfs: Forbidden: may not specify more than 1 volume type',
    'spec.cephFS: Forbidden: may not specify more than 1 volume type',
  ],
  [
    { hostPath: { path: '/x' }, flexVolume: {}, azureFile: {} },
    'spec.flexVolume.driver: Required value',
    'spec.azureFile: Forbidden: may not specify more than 1 volume type',
  ],
  [
    {
      capacity: { storage: '-1', cpu: '1' },
      accessModes: ['ReadSometimes', 'ReadWriteOncePod', 'ReadWriteMany'],
      persistentVolumeReclaimPolicy: 'Keep',
      volumeMode: 'Cube',
      storageClassName: 'Bad Class',
      hostPath: { path: '/a/../b', type: 'Odd' },
    },
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
  [
    { hostPath: { path: '/./' }, persistentVolumeReclaimPolicy: 'Recycle' },
    "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount of '/'",
  ],
  [{ local, nodeAffinity }],
  [{ local }, 'spec.nodeAffinity: Required value: Local volume requires node affinity'],
  [{ local, nodeAffinity: {} }, 'spec.nodeAffinity.required: Required value: must specify required node constraints'],
  [
    { csi: { driver: '-', controllerPublishSecretRef: {}, nodePublishSecretRef: { name: 'S', namespace: 'n.s' } } },
    'spec.csi.driver: Invalid value: "-"',
    'spec.csi.volumeHandle: Required value',
    'spec.csi.controllerPublishSecretRef.name: Required value',
    'spec.csi.controllerPublishSecretRef.namespace: Required value',
    'spec.csi.nodePublishSecretRef.name: Invalid value: "S"',
    'spec.csi.nodePublishSecretRef.namespace: Invalid value: "n.s"',
  ],
  [
    { gcePersistentDisk: { partition: 256 } },
    'spec.persistentDisk.pdName: Required value',
    'spec.persistentDisk.partition: Invalid value: 256',
  ],
  [
    { cinder: { volumeID: 'v', secretRef: {} } },
    'spec.cinder.secretRef.name: Required value',
    'spec.cinder.secretRef.namespace: Required value',
  ],
  [
    { azureFile: { secretNamespace: '' } },
    'spec.azureFile.secretName: Required value',
    'spec.azureFile.shareName: Required value',
    'spec.azureFile.secretNamespace: Required value',
  ],
  [
    { glusterfs: { endpoints: 'e', path: '/p', endpointsNamespace: '' } },
    'spec.glusterfs.endpointsNamespace: Invalid value: "": if the endpointnamespace is set',
  ],
  [
    {
      iscsi: {
        targetPortal: 'x'.repeat(64),
        iqn: 'iqn.2015-02.example.com:test',
        initiatorName: 'iqn.2015-02.example.com:init',
        secretRef: {},
      },
    },
    'spec.iscsi.targetportal: Invalid value: ',
    'spec.iscsi.secretRef.name: Required value',
  ],
  [
    { iscsi: { iqn: 'abc', secretRef: {}, initiatorName: 'abc' } },
    'spec.iscsi.targetPortal: Required value',
    'spec.iscsi.iqn: Invalid value: "abc": must be valid format',
    'spec.iscsi.secretRef.name: Required value',
    'spec.iscsi.initiatorname: Invalid value: "abc": must be valid format',
  ],
]
for (const [spec, ...expected] of rows)
  test(`create: ${rowTitle(spec, expected)}`, () => expectErrors(validateCreation(persistentVolume, make(spec), context), expected))

test('the mount options annotation is rejected for sources that do not support it', () => {
  const annotated = { metadata: { ...metadata, annotations: { 'volume.beta.cluster.io/mount-options': 'ro' } } }
  expectErrors(validateCreation(persistentVolume, make({ nfs: { server: 's', path: '/p' } }, annotated), context), [])
  expectErrors(validateCreation(persistentVolume, make({ hostPath: { path: '/x' } }, annotated), context), [
    'metadata.annotations.volume.beta.cluster.io/mount-options: Forbidden: may not specify mount options for this volume type',
  ])
})

const csi = { driver: 'd.example', volumeHandle: 'h' }
const secret = { name: 's', namespace: 'n' }
const zone = (name: string) => ({ required: { nodeSelectorTerms: [{ matchExpressions: [{ key: name, operator: 'In', values: ['z'] }] }] } })
const changes: readonly (readonly [old: PersistentVolumeSpec, next: PersistentVolumeSpec, ...expected: readonly string[]])[] = [
  [{ csi }, { csi, capacity: { storage: '2Gi' }, persistentVolumeReclaimPolicy: 'Delete', storageClassName: 'c', claimRef: { name: 'x' } }],
  [
    { csi },
    { csi: { ...csi, volumeHandle: 'i' } },
    'spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable after creation',
  ],
  [{ csi }, { local, nodeAffinity }, 'spec.persistentvolumesource: Forbidden'],
  [{ csi }, { csi: { ...csi, controllerExpandSecretRef: secret } }],
  [
    { csi: { ...csi, controllerExpandSecretRef: secret } },
    { csi: { ...csi, controllerExpandSecretRef: { ...secret, name: 't' } } },
    'spec.persistentvolumesource: Forbidden',
  ],
  [{ csi }, { csi, volumeMode: 'Block' }, 'volumeMode: Invalid value: "Block": field is immutable'],
  [{ csi }, { csi, nodeAffinity }],
  [{ csi, nodeAffinity }, { csi }, 'nodeAffinity: Invalid value: "null": field is immutable, except for updating from beta label to GA'],
  [
    { csi, nodeAffinity: zone('failure-domain.beta.cluster.io/zone') },
    { csi, nodeAffinity: zone('topology.cluster.io/zone') },
  ],
  [
    { csi, nodeAffinity: zone('topology.cluster.io/zone') },
    { csi, nodeAffinity: zone('failure-domain.beta.cluster.io/zone') },
    'nodeAffinity: Invalid value: {"required"',
  ],
  [
    { csi: { ...csi, nodeStageSecretRef: { name: 'a.b', namespace: 'n' } } },
    { csi: { ...csi, nodeStageSecretRef: { name: 'a.b', namespace: 'n' }, controllerExpandSecretRef: { name: 'c.d', namespace: 'n' } } },
  ],
  [
    { csi },
    { csi: { ...csi, controllerExpandSecretRef: { name: 'c.d', namespace: 'n' } } },
    'spec.csi.controllerExpandSecretRef.name: Invalid value: "c.d": a lowercase RFC 1123 label',
    'spec.csi.controllerExpandSecretRef.name: Invalid value: "c.d": a lowercase RFC 1123 label',
  ],
  [
    { csi },
    { csi, capacity: { storage: '0' } },
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
    'spec.capacity[storage]: Invalid value: "0": must be greater than zero',
  ],
]
for (const [old, next, ...expected] of changes) {
  test(`update: ${rowTitle(old, expected)}`, () =>
    expectErrors(validateChange(persistentVolume, { next: make(next), old: make(old) }, context), expected))
}

test('an inline volume of an attachment is a CSI volume', () => {
  const rules = { field: 'spec', volumeName: '', context }
  expectErrors(validateInlineVolume({ accessModes: ['ReadWriteOnce'], csi }, rules), [])
  expectErrors(
    validateInlineVolume(
      { ...valid, volumeMode: 'Block', persistentVolumeReclaimPolicy: 'Delete', claimRef: {}, nodeAffinity: {}, storageClassName: 'c' },
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

test('a feature-gated secret is dropped unless the old object has it; spec and status are updated separately', () => {
  const gated = { csi: { ...csi, nodeExpandSecretRef: secret } }
  const [sent, withoutSecret] = [make(gated, { status: { phase: 'Bound' } }), make({ csi })]
  assert.deepEqual(persistentVolume.prepareCreate?.(sent, context), withoutSecret)
  assert.deepEqual(persistentVolume.prepareUpdate?.(sent, withoutSecret, context), withoutSecret)
  assert.deepEqual(persistentVolume.prepareUpdate?.(sent, make(gated), context), make(gated))
  const [status] = persistentVolume.subresources ?? []
  assert.deepEqual(status?.prepareUpdate(sent, withoutSecret, context), make({ csi }, { status: { phase: 'Bound' } }))
})

test('printer columns', () => {
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
  const terminating = frozen({
    metadata: { ...metadata, deletionTimestamp: '2024-03-01T11:00:00Z', annotations: { 'volume.beta.cluster.io/storage-class': 'old' } },
  })
  assert.deepEqual(persistentVolume.table?.cells(terminating, context), ['v', '0', '', '', 'Terminating', '', 'old', '', '60m', '<unset>'])
})
