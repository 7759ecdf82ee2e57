// Random histories of pods with resource claims, with restarts: every pod owns a claim per template, and no pod that ended keeps a
// reservation.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { collectGarbage, type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { controllerRefOf, isTerminating } from '../kit/workload-parts.js'

interface Claim extends ApiObject {
  readonly status?: { readonly reservedFor?: readonly { readonly name: string; readonly uid?: string }[] }
}

const group = 'resource.k8s.io'
const claimKind = { group, plural: 'resourceclaims' }
const claimSpec = { resourceClassName: 'gpu' }
const other = { apiGroup: 'example.com', resource: 'things', name: 'x', uid: 'x' }

const plan: HistoryPlan = {
  controllers: ['resource-claim'],
  gates: ['DynamicResourceAllocation'],
  steps: 60,
  settleMs: 2000,
  begin: async (cluster, random) => {
    const pods = (): readonly Pod[] => cluster.list<Pod>('', 'pods')
    const claims = (): readonly Claim[] => cluster.list<Claim>(group, 'resourceclaims')
    const hasEnded = (pod: Pod): boolean => isFinishedPod(pod) || (isTerminating(pod) && pod.spec?.nodeName === undefined)
    await cluster.create(group, 'resourceclaimtemplates', { metadata: { name: 'one-gpu' }, spec: { spec: claimSpec } })
    await cluster.create(group, 'resourceclaims', { metadata: { name: 'shared' }, spec: claimSpec })
    const addPod = async (): Promise<string> => {
      const name = `p-${random(5)}`
      if (pods().some((pod) => nameOf(pod) === name)) return `${name} exists`
      const nodeName = random(2) === 0 ? { nodeName: 'node' } : {}
      const metadata = { name, finalizers: ['example.com/hold'] }
      const resourceClaims = [
        { name: 'gpu', source: { resourceClaimTemplateName: 'one-gpu' } },
        { name: 'other', source: { resourceClaimName: 'shared' } },
      ]
      await cluster.create('', 'pods', { metadata, spec: { ...nodeName, containers: [{ name: 'main', image: 'app' }], resourceClaims } })
      return `add ${name}`
    }
    const onPod = async (verb: string, act: (pod: Pod, target: { group: string; plural: string; name: string }) => Promise<void>) => {
      const pod = pick(random, pods())
      if (pod !== undefined) await act(pod, { group: '', plural: 'pods', name: nameOf(pod) })
      return `${verb} ${pod === undefined ? '' : nameOf(pod)}`
    }
    const removePod = (): Promise<string> =>
      onPod('remove', (pod, target) =>
        isTerminating(pod) ? cluster.patch(target, { metadata: { finalizers: null } }) : cluster.remove(target),
      )
    const finishPod = (): Promise<string> =>
      onPod('finish', (_, target) => cluster.patch(target, { status: { phase: 'Succeeded' } }, 'status'))
    /** Acts as the scheduler. */
    const reserve = (): Promise<string> =>
      onPod('reserve for', async (pod) => {
        const claim = pick(
          random,
          claims().filter((each) => ['shared', `${nameOf(pod)}-gpu`].includes(nameOf(each))),
        )
        const before = claim?.status?.reservedFor ?? [other]
        const consumer = { resource: 'pods', name: nameOf(pod), uid: pod.metadata?.uid }
        if (claim === undefined || hasEnded(pod) || before.some(({ uid }) => uid === consumer.uid)) return
        const status = { driverName: 'gpu.example.com', allocation: { shareable: true }, reservedFor: [...before, consumer] }
        await cluster.patch({ ...claimKind, name: nameOf(claim) }, { status }, 'status')
      })
    const removeClaim = async (): Promise<string> => {
      const claim = pick(
        random,
        claims().filter((each) => controllerRefOf(each) !== undefined),
      )
      if (claim !== undefined) await cluster.remove({ ...claimKind, name: nameOf(claim) })
      return `remove claim ${claim === undefined ? '' : nameOf(claim)}`
    }
    return {
      actions: [addPod, addPod, removePod, removePod, finishPod, reserve, reserve, removeClaim],
      tidy: () => collectGarbage(cluster, claimKind, pods()),
      check: () => {
        const waiting = pods().filter((pod) => !isTerminating(pod) && !isFinishedPod(pod))
        for (const pod of waiting) {
          const claim = claims().find((each) => nameOf(each) === `${nameOf(pod)}-gpu`)
          assert.equal(claim === undefined ? undefined : controllerRefOf(claim)?.uid, pod.metadata?.uid, nameOf(pod))
        }
        const using = new Set(pods().flatMap((pod) => (hasEnded(pod) ? [] : pod.metadata?.uid)))
        for (const claim of claims())
          for (const { uid, name } of claim.status?.reservedFor ?? [])
            assert.ok(uid === other.uid || using.has(uid), `${nameOf(claim)} is reserved for ${name}, which ended`)
      },
    }
  },
}

for (const seed of [1, 2, 3, 4])
  test(`random history ${seed}: pods own their claims and reserve them while they run`, () => playHistory(seed, plan))
