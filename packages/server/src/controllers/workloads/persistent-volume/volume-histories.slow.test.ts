// Random histories of claims and volumes with restarts of the controllers: a claim and a volume point at each other or at nothing, and no
// claim waits that a free volume satisfies.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { namespace, randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const histories = 4
const steps = 30
/** Longer than the resync period of waiting claims. */
const longMs = 16_000

const sizeOf = (amounts: object | undefined): number => Number.parseInt((amounts as { storage?: string } | undefined)?.storage ?? '0', 10)
const claimSize = ({ spec }: PersistentVolumeClaim): number => sizeOf(spec?.resources?.requests)
const volumeSize = ({ spec }: PersistentVolume): number => sizeOf(spec?.capacity)
const volumesIn = (cluster: WorkloadCluster) => cluster.list<PersistentVolume>('', 'persistentvolumes')
const claimsIn = (cluster: WorkloadCluster) => cluster.list<PersistentVolumeClaim>('', 'persistentvolumeclaims')
const classOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.storageClassName ?? ''

function check(cluster: WorkloadCluster, log: readonly string[]): void {
  const volumes = volumesIn(cluster)
  const claims = claimsIn(cluster)
  const free = volumes.filter(({ status }) => status?.phase === 'Available')
  for (const claim of claims) {
    const { metadata, spec, status } = claim
    const about = `${metadata?.name}: ${log.join(', ')}`
    const volume = volumes.find((each) => each.metadata?.name === spec?.volumeName)
    if (status?.phase === 'Bound') {
      assert.equal(volume?.spec?.claimRef?.uid, metadata?.uid, about)
      assert.equal(volume?.status?.phase, 'Bound', about)
      assert.ok(volumeSize(volume as PersistentVolume) >= claimSize(claim), about)
      assert.equal(classOf(volume as PersistentVolume), classOf(claim), about)
    } else if (status?.phase === 'Lost') assert.equal(volume, undefined, about)
    else {
      const fitting = free.filter((each) => classOf(each) === classOf(claim) && volumeSize(each) >= claimSize(claim))
      assert.deepEqual([status?.phase, fitting.map((each) => each.metadata?.name)], ['Pending', []], about)
    }
  }
  for (const { metadata, spec, status } of volumes) {
    const claim = claims.find((each) => each.metadata?.uid === spec?.claimRef?.uid)
    const expected = spec?.claimRef === undefined ? 'Available' : claim === undefined ? 'Released' : 'Bound'
    assert.equal(status?.phase, expected, `${metadata?.name}: ${log.join(', ')}`)
  }
}

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['persistentvolume-binder'])
  const log = [`seed ${seed}`]
  let names = 0
  const specOf = () => ({ accessModes: ['ReadWriteOnce'], storageClassName: ['', 'slow'][random(2)] ?? '' })
  const act = async (): Promise<string> => {
    const name = `x${++names}`
    const storage = `${1 + random(4)}Gi`
    switch (random(7)) {
      case 0:
      case 1:
        await cluster.create('', 'persistentvolumeclaims', {
          metadata: { name },
          spec: { ...specOf(), resources: { requests: { storage } } },
        })
        return `claim ${name} ${storage}`
      case 2:
      case 3: {
        const spec = { ...specOf(), capacity: { storage }, hostPath: { path: '/x' }, persistentVolumeReclaimPolicy: 'Retain' }
        await cluster.create('', 'persistentvolumes', { metadata: { name }, spec })
        return `volume ${name} ${storage}`
      }
      case 4: {
        const claim = claimsIn(cluster)[random(claimsIn(cluster).length)]
        if (claim !== undefined) await cluster.remove({ group: '', plural: 'persistentvolumeclaims', name: claim.metadata?.name ?? '' })
        return `delete claim ${claim?.metadata?.name}`
      }
      case 5: {
        const volume = volumesIn(cluster)[random(volumesIn(cluster).length)]
        if (volume !== undefined) await cluster.remove({ group: '', plural: 'persistentvolumes', name: volume.metadata?.name ?? '' })
        return `delete volume ${volume?.metadata?.name}`
      }
      default:
        await cluster.restart()
        return 'restart'
    }
  }
  for (let step = 0; step < steps; step++) {
    log.push(await act())
    // Some changes come while the controllers still handle the one before.
    if (random(3) === 0) continue
    await cluster.settle(longMs)
    check(cluster, log)
  }
  await cluster.settle(longMs)
  check(cluster, log)
  assert.ok(claimsIn(cluster).every(({ metadata }) => metadata?.namespace === namespace))
  await cluster.close()
}

test('claims and volumes of random histories are bound one to one', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})
