// Events of the controllers of volumes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const sized = (storage: string) => ({ resources: { requests: { storage } } })
const base = { accessModes: ['ReadWriteOnce'], storageClassName: 'c' }
const volume = (name: string, spec: object = {}) => ({
  metadata: { name },
  spec: { ...base, capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, ...spec },
})
const claim = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { ...base, ...sized('1Gi'), ...spec } })

/** Type, reason and message of the events of both namespaces. */
const eventsOf = (cluster: WorkloadCluster, reason: string): readonly string[] => {
  const resource = cluster.find('', 'events')
  const found = cluster.parts.engine.store.readAll({
    resource,
    namespace: '',
    limit: 0,
    selection: { labels: undefined, fields: undefined },
  })
  return Array.from(found.objects(), (stored) => stored.decode(resource) as Event)
    .filter((event) => event.reason === reason)
    .map(({ type, involvedObject, message }) => `${type} ${involvedObject?.kind}: ${message}`)
    .sort()
}

test('a volume that is reserved for a claim of another volume mode', async () => {
  const cluster = await workloadCluster(['persistentvolume-binder'])
  try {
    await cluster.create('', 'persistentvolumeclaims', claim('d', { volumeMode: 'Block' }))
    const { uid } = cluster.list('', 'persistentvolumeclaims')[0]?.metadata ?? {}
    const claimRef = { kind: 'PersistentVolumeClaim', apiVersion: 'v1', namespace: 'n', name: 'd', uid }
    await cluster.create('', 'persistentvolumes', volume('v', { claimRef, volumeMode: 'Filesystem' }))
    await cluster.settle()
    assert.deepEqual(eventsOf(cluster, 'VolumeMismatch'), [
      'Warning PersistentVolume: Cannot bind PersistentVolume to requested PersistentVolumeClaim "d" due to incompatible volumeMode.',
      'Warning PersistentVolumeClaim: Cannot bind PersistentVolume "v" to requested PersistentVolumeClaim due to incompatible volumeMode.',
    ])
  } finally {
    await cluster.close()
  }
})

test('a claim whose volume only another program can grow', async () => {
  const cluster = await workloadCluster(['persistentvolume-binder', 'persistentvolume-expander'])
  try {
    await cluster.create('', 'persistentvolumes', volume('v', { hostPath: undefined, csi: { driver: 'x.test', volumeHandle: '1' } }))
    await cluster.create('', 'persistentvolumeclaims', claim('d'))
    await cluster.settle()
    await cluster.patch({ group: '', plural: 'persistentvolumeclaims', name: 'd' }, { spec: sized('2Gi') })
    await cluster.settle()
    const why = "didn't find a plugin capable of expanding the volume; waiting for an external controller to process this PVC."
    assert.deepEqual(eventsOf(cluster, 'ExternalExpanding'), [`Warning PersistentVolumeClaim: Ignoring the PVC: ${why}`])
  } finally {
    await cluster.close()
  }
})

for (const [provisioner, problem, isAnnotated] of [
  ['kubernetes.io/no-provisioner', 'no volume plugin matched name: kubernetes.io/no-provisioner', false],
  ['kubernetes.io/nfs', 'no provisionable volume plugin matched', false],
  ['kubernetes.io/host-path', 'Failed to create provisioner: provisioning in volume plugin "kubernetes.io/host-path" is disabled', true],
] as const)
  test(`a claim of a class with the provisioner ${provisioner}`, async () => {
    const cluster = await workloadCluster(['persistentvolume-binder'])
    try {
      await cluster.create('storage.k8s.io', 'storageclasses', { metadata: { name: 'c' }, provisioner })
      await cluster.create('', 'persistentvolumeclaims', claim('d'))
      await cluster.settle()
      assert.deepEqual(eventsOf(cluster, 'ProvisioningFailed'), [`Warning PersistentVolumeClaim: ${problem}`])
      const { annotations } = cluster.list('', 'persistentvolumeclaims')[0]?.metadata ?? {}
      assert.equal(annotations?.['volume.kubernetes.io/storage-provisioner'], isAnnotated ? provisioner : undefined)
    } finally {
      await cluster.close()
    }
  })
