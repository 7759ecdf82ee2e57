// Recycling of volumes: the test acts as the kubelet of the recycler pods.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, PersistentVolume, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { internalDelete, internalPatch } from '../../framework/internal-call.js'
import { readAll } from '../kit/workload-parts.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const base = { accessModes: ['ReadWriteOnce'], storageClassName: 'c' }
const target = { namespace: 'default', name: 'recycler-for-v' }

async function withReleased(source: object, work: (cluster: WorkloadCluster) => Promise<void>): Promise<void> {
  const cluster = await workloadCluster(['persistentvolume-binder'])
  try {
    const spec = { ...base, capacity: { storage: '3Gi' }, persistentVolumeReclaimPolicy: 'Recycle', ...source }
    await cluster.create('', 'persistentvolumes', { metadata: { name: 'v' }, spec })
    const claimSpec = { ...base, resources: { requests: { storage: '1Gi' } } }
    await cluster.create('', 'persistentvolumeclaims', { metadata: { name: 'd' }, spec: claimSpec })
    await cluster.settle()
    await cluster.remove({ group: '', plural: 'persistentvolumeclaims', name: 'd' })
    await cluster.settle()
    await work(cluster)
  } finally {
    await cluster.close()
  }
}

const statusOf = (cluster: WorkloadCluster): string => {
  const { status, spec } = cluster.list<PersistentVolume>('', 'persistentvolumes')[0] ?? {}
  return [status?.phase, status?.message, spec?.claimRef === undefined ? undefined : 'claimRef'].filter(Boolean).join(', ')
}
const podsIn = (cluster: WorkloadCluster) => [...readAll<Pod>(cluster.parts, cluster.find('', 'pods'), 'default')]
const eventsOf = (cluster: WorkloadCluster) =>
  [...readAll<Event>(cluster.parts, cluster.find('', 'events'), 'default')].map(
    ({ type, reason, message }) => `${type} ${reason}: ${message}`,
  )
const finishPod = (cluster: WorkloadCluster, status: object) =>
  internalPatch(cluster.parts.engine, { resource: cluster.find('', 'pods'), ...target, subresource: 'status' }, { status })

test('a released volume is available again when its recycler pod has succeeded', () =>
  withReleased({ hostPath: { path: '/data' } }, async (cluster) => {
    assert.equal(statusOf(cluster), 'Released, claimRef')
    const [pod] = podsIn(cluster)
    assert.deepEqual([pod?.metadata?.name, pod?.spec?.activeDeadlineSeconds], ['recycler-for-v', 90])
    assert.deepEqual(pod?.spec?.volumes?.[0]?.hostPath?.path, '/data')
    await finishPod(cluster, { phase: 'Succeeded' })
    await cluster.settle()
    assert.equal(statusOf(cluster), 'Available')
    assert.deepEqual(podsIn(cluster), [])
    assert.deepEqual(eventsOf(cluster), ['Normal VolumeRecycled: Volume recycled'])
  }))

test('a failed recycler pod is started again after 15 s, as one that another client deleted', () =>
  withReleased({ nfs: { server: 's', path: '/' } }, async (cluster) => {
    await finishPod(cluster, { phase: 'Failed', message: 'no disk' })
    await cluster.settle()
    const failed = 'Recycle failed: failed to recycle volume: no disk'
    assert.equal(statusOf(cluster), `Failed, ${failed}, claimRef`)
    assert.deepEqual(podsIn(cluster), [])
    await cluster.settle(15_000)
    assert.equal(podsIn(cluster).length, 1)
    await internalDelete(cluster.parts.engine, { resource: cluster.find('', 'pods'), ...target, options: {} })
    await cluster.settle()
    assert.deepEqual(podsIn(cluster), [])
    await cluster.settle(15_000)
    await finishPod(cluster, { phase: 'Succeeded' })
    await cluster.settle()
    assert.equal(statusOf(cluster), 'Available')
    assert.deepEqual(eventsOf(cluster), [`Warning VolumeFailedRecycle: ${failed}`, 'Normal VolumeRecycled: Volume recycled'])
  }))

test('the recycler pod of a deleted volume is deleted, also if there is another volume of that name', () =>
  withReleased({ hostPath: { path: '/data' } }, async (cluster) => {
    const volume = { group: '', plural: 'persistentvolumes', name: 'v' }
    assert.equal(podsIn(cluster).length, 1)
    await cluster.remove(volume)
    await cluster.settle()
    assert.deepEqual(podsIn(cluster), [])
    const [claimRef, hostPath] = [{ namespace: 'n', name: 'd', uid: 'x' }, { path: '/data' }]
    const spec = { ...base, capacity: { storage: '3Gi' }, persistentVolumeReclaimPolicy: 'Recycle', claimRef, hostPath }
    await cluster.create('', 'persistentvolumes', { metadata: { name: 'v' }, spec })
    await cluster.settle()
    assert.equal(podsIn(cluster).length, 1)
    // Both changes are one run of the controller.
    await cluster.remove(volume)
    await cluster.create('', 'persistentvolumes', { metadata: { name: 'v' }, spec: { ...spec, persistentVolumeReclaimPolicy: 'Retain' } })
    await cluster.settle()
    assert.deepEqual(podsIn(cluster), [])
    assert.equal(statusOf(cluster), 'Released, claimRef')
  }))

test('volumes of other plugins cannot be recycled', () =>
  withReleased({ csi: { driver: 'x.test', volumeHandle: '1' } }, async (cluster) => {
    assert.equal(statusOf(cluster), 'Failed, No recycler plugin found for the volume!, claimRef')
    assert.deepEqual(podsIn(cluster), [])
  }))
