// Random histories of claims that grow, with restarts: every bound claim of the built-in provisioner ends with the capacity that it
// requests, and so does its volume; other claims keep theirs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'
import { builtInProvisioner } from './storage-classes.js'

const claimKind = { group: '', plural: 'persistentvolumeclaims' }
const sizeOf = (amounts: object | undefined): number => Number.parseInt((amounts as { storage?: string } | undefined)?.storage ?? '0', 10)

const plan: HistoryPlan = {
  controllers: ['persistentvolume-binder', 'persistentvolume-expander'],
  steps: 50,
  /** Longer than the resync period of waiting claims. */
  settleMs: 16_000,
  begin: async (cluster, random) => {
    let names = 0
    const claims = (): readonly PersistentVolumeClaim[] => cluster.list<PersistentVolumeClaim>('', 'persistentvolumeclaims')
    const volumes = (): readonly PersistentVolume[] => cluster.list<PersistentVolume>('', 'persistentvolumes')
    await cluster.create('storage.k8s.io', 'storageclasses', {
      metadata: { name: 'fast' },
      provisioner: builtInProvisioner,
      allowVolumeExpansion: true,
      volumeBindingMode: 'Immediate',
      reclaimPolicy: 'Delete',
    })
    const add = async (): Promise<string> => {
      const name = `c${++names}`
      const isOther = random(4) === 0
      const spec = { accessModes: ['ReadWriteOnce'], storageClassName: isOther ? 'other' : 'fast' }
      if (isOther)
        await cluster.create('', 'persistentvolumes', {
          metadata: { name: `v-${name}` },
          spec: { ...spec, capacity: { storage: '1Gi' }, hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Retain' },
        })
      await cluster.create('', 'persistentvolumeclaims', {
        metadata: { name },
        spec: { ...spec, resources: { requests: { storage: '1Gi' } } },
      })
      return `add ${name} ${spec.storageClassName}`
    }
    const grow = async (): Promise<string> => {
      const claim = pick(
        random,
        claims().filter(({ status }) => status?.phase === 'Bound'),
      )
      if (claim === undefined) return 'no claim'
      const storage = `${sizeOf(claim.spec?.resources?.requests) + 1}Gi`
      await cluster.patch({ ...claimKind, name: nameOf(claim) }, { spec: { resources: { requests: { storage } } } })
      return `grow ${nameOf(claim)} to ${storage}`
    }
    const remove = async (): Promise<string> => {
      const claim = pick(random, claims())
      if (claim !== undefined) await cluster.remove({ ...claimKind, name: nameOf(claim) })
      return `remove ${claim === undefined ? '' : nameOf(claim)}`
    }
    return {
      actions: [add, add, grow, grow, grow, remove],
      check: () => {
        for (const claim of claims()) {
          const { metadata, spec, status } = claim
          const volume = volumes().find((each) => nameOf(each) === spec?.volumeName)
          assert.deepEqual([status?.phase, volume?.spec?.claimRef?.uid], ['Bound', metadata?.uid], nameOf(claim))
          const size = spec?.storageClassName === 'fast' ? sizeOf(spec.resources?.requests) : 1
          assert.deepEqual([sizeOf(status?.capacity), sizeOf(volume?.spec?.capacity)], [size, size], nameOf(claim))
        }
      },
    }
  },
}

for (const seed of [1, 2, 3, 4]) test(`random history ${seed}: claims grow with their volumes`, () => playHistory(seed, plan))
