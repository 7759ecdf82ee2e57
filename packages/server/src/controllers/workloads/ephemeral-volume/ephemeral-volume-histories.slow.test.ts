// Random histories of pods with generic ephemeral volumes and of claims, with restarts: every pod owns a claim for each of these volumes
// up to the first one whose claim belongs to another object.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { collectGarbage, type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'
import { controllerRefOf, isTerminating } from '../kit/workload-parts.js'
import { workloadCluster } from '../workload.fixture.js'

const claimKind = { group: '', plural: 'persistentvolumeclaims' }
const claimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
const volumeClaimTemplate = { metadata: { labels: { kind: 'scratch' } }, spec: claimSpec }

const plan: HistoryPlan = {
  controllers: ['ephemeral-volume'],
  steps: 60,
  /** Longer than the longest back-off. */
  settleMs: 1_100_000,
  begin: async (cluster, random) => {
    const pods = (): readonly Pod[] => cluster.list<Pod>('', 'pods')
    const claims = (): readonly PersistentVolumeClaim[] => cluster.list<PersistentVolumeClaim>('', 'persistentvolumeclaims')
    const addPod = async (): Promise<string> => {
      // Names come again, so that claims of the previous pod are in the way.
      const name = `p-${random(4)}`
      if (pods().some((pod) => nameOf(pod) === name)) return `${name} exists`
      const volumes = ['a', 'b'].slice(random(2)).map((volume) => ({ name: volume, ephemeral: { volumeClaimTemplate } }))
      const metadata = { name, ...(random(4) === 0 ? { finalizers: ['example.com/hold'] } : {}) }
      await cluster.create('', 'pods', { metadata, spec: { containers: [{ name: 'main', image: 'app' }], volumes } })
      return `add ${name}`
    }
    const removePod = async (): Promise<string> => {
      const pod = pick(random, pods())
      if (pod === undefined) return 'no pod'
      const target = { group: '', plural: 'pods', name: nameOf(pod) }
      if (isTerminating(pod)) await cluster.patch(target, { metadata: { finalizers: null } })
      else await cluster.remove(target)
      return `remove ${nameOf(pod)}`
    }
    const removeClaim = async (): Promise<string> => {
      const claim = pick(random, claims())
      if (claim !== undefined) await cluster.remove({ ...claimKind, name: nameOf(claim) })
      return `remove claim ${claim === undefined ? '' : nameOf(claim)}`
    }
    const addForeignClaim = async (): Promise<string> => {
      const name = `p-${random(4)}-a`
      if (claims().some((claim) => nameOf(claim) === name)) return `claim ${name} exists`
      await cluster.create('', 'persistentvolumeclaims', { metadata: { name }, spec: claimSpec })
      return `add foreign claim ${name}`
    }
    return {
      actions: [addPod, addPod, removePod, removeClaim, removeClaim, addForeignClaim],
      tidy: () => collectGarbage(cluster, claimKind, pods()),
      check: () => {
        const owners = new Map(claims().map((claim) => [nameOf(claim), controllerRefOf(claim)?.uid]))
        for (const pod of pods().filter((each) => !isTerminating(each)))
          for (const { name } of pod.spec?.volumes ?? []) {
            const claim = `${nameOf(pod)}-${name}`
            if (owners.has(claim) && owners.get(claim) === undefined) break
            assert.equal(owners.get(claim), pod.metadata?.uid, claim)
          }
        const uids = new Set(pods().map(({ metadata }) => metadata?.uid))
        for (const [claim, uid] of owners) assert.ok(uid === undefined || uids.has(uid), claim)
      },
    }
  },
}

test('a pod gets its claim as soon as a claim of another object with that name is deleted', async () => {
  const cluster = await workloadCluster(['ephemeral-volume'])
  await cluster.create('', 'persistentvolumeclaims', { metadata: { name: 'a-pod-a' }, spec: claimSpec })
  const volumes = [{ name: 'a', ephemeral: { volumeClaimTemplate } }]
  await cluster.create('', 'pods', { metadata: { name: 'a-pod' }, spec: { containers: [{ name: 'main', image: 'app' }], volumes } })
  const owners = () => cluster.list<PersistentVolumeClaim>('', 'persistentvolumeclaims').map((claim) => controllerRefOf(claim)?.name)
  // Several failures: the back-off is minutes.
  await cluster.settle(600_000)
  assert.deepEqual(owners(), [undefined])
  await cluster.remove({ ...claimKind, name: 'a-pod-a' })
  await cluster.settle(0)
  assert.deepEqual(owners(), ['a-pod'])
  await cluster.close()
})

for (const seed of [1, 2, 3, 4]) test(`random history ${seed}: each pod owns its claims`, () => playHistory(seed, plan))
