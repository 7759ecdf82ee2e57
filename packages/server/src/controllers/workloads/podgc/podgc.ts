// Pod garbage collector: deletes finished pods above a threshold, pods of nodes that do not exist, and terminating pods that no kubelet will
// ever finish. Passes over the field index of all pods every 20 seconds while there are pods.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { inParallel } from '@cluster-apiserver/api/base/async/in-parallel.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { Node, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { fieldOf } from '../../../objects/list/selection.js'
import { KeyedController, type Run } from '../../framework/controller.js'
import { ignoreErrors, notFoundOrConflict } from '../../framework/internal-call.js'
import { pagesOf } from '../../framework/list-pages.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { isTerminating, readAll, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { podsAboveThreshold } from './pods-to-collect.js'

const passKey = 'pods'
const periodMs = 20_000
/** Time for which a node must be missing: a new node may be slower than its pods. */
const quarantineMs = 40_000
const maxParallelDeletions = 20

interface Resources {
  readonly pods: Resource
  readonly nodes: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  /** Times at which nodes of pods were found missing first. */
  readonly missingSinceMs: Map<string, number>
  readonly progress: Progress
}

/** Nothing is read while pods and nodes are as they were in a pass that found no candidate. */
interface Progress {
  /** Number of changes of pods and nodes. */
  changes: number
  /** `changes` at the start of the last pass without candidates. */
  cleanAt: number | undefined
}

function resourcesIn(catalog: Catalog): Resources | undefined {
  const [pods, nodes] = ['pods', 'nodes'].map((plural) => catalog.find('', 'v1', plural))
  return pods === undefined || nodes === undefined ? undefined : { pods, nodes }
}

export const podGarbageCollection = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'pod-garbage-collector')
  const missingSinceMs = new Map<string, number>()
  const progress: Progress = { changes: 0, cleanAt: undefined }
  return new KeyedController(parts, {
    name: 'podgc',
    backOff: workloadBackOff,
    sources: (catalog) => {
      const found = resourcesIn(catalog)
      if (found === undefined) return []
      const onPod = (_: unknown, type: string) => {
        progress.changes += 1
        return type === 'ADDED' || type === 'LISTED' ? { key: passKey, afterMs: periodMs } : undefined
      }
      const onNode = () => {
        progress.changes += 1
        return undefined
      }
      return [
        { resource: found.pods, namespace: '', keyOf: onPod },
        { resource: found.nodes, namespace: '', onlyChanges: true, keyOf: onNode },
      ]
    },
    work: async (_, run) => {
      const resources = resourcesIn(parts.catalogs.current)
      return resources === undefined ? undefined : pass({ parts, writer, resources, missingSinceMs, progress }, run)
    },
  })
}

interface Candidates {
  readonly finished: StoredObject[]
  readonly byMissingNode: Map<string, Pod[]>
  /** Terminating pods without a node, or on a node that is out of service. */
  readonly terminating: Pod[]
  count: number
}

async function pass(context: Context, run: Run): Promise<Outcome> {
  const { parts, missingSinceMs, progress } = context
  const { changes } = progress
  if (progress.cleanAt === changes) return { afterMs: periodMs }
  const candidates = await findCandidates(context, run)
  const threshold = parts.flags?.terminatedPodThreshold ?? 0
  const isAboveThreshold = threshold > 0 && candidates.finished.length > threshold
  if (isAboveThreshold) {
    const finished: Pod[] = []
    for (const stored of candidates.finished) {
      finished.push(stored.decode(context.resources.pods) as Pod)
      await run.budget.yieldIfSpent()
    }
    await collect(context, podsAboveThreshold(finished, threshold))
  }
  await collect(context, candidates.terminating)
  const nowMs = parts.engine.clock.now()
  for (const name of [...missingSinceMs.keys()]) if (!candidates.byMissingNode.has(name)) missingSinceMs.delete(name)
  for (const [name, pods] of candidates.byMissingNode) {
    const sinceMs = missingSinceMs.get(name)
    if (sinceMs === undefined) missingSinceMs.set(name, nowMs)
    else if (nowMs - sinceMs >= quarantineMs) await collect(context, pods, orphanCondition)
  }
  const isClean = !isAboveThreshold && candidates.terminating.length === 0 && candidates.byMissingNode.size === 0
  if (isClean) progress.cleanAt = changes
  return candidates.count === 0 ? undefined : { afterMs: periodMs }
}

const orphanCondition = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: 'PodGC: node no longer exists' }

async function findCandidates({ parts, resources: { pods, nodes } }: Context, run: Run): Promise<Candidates> {
  const { store, identity } = parts.engine
  const outOfService = new Map<string, boolean>()
  const taint = identity.label('out-of-service', 'node')
  for (const { metadata, spec, status } of readAll<Node>(parts, nodes, '')) {
    const isReady = status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
    outOfService.set(metadata?.name ?? '', !isReady && spec?.taints?.some(({ key }) => key === taint) === true)
  }
  const found: Candidates = { finished: [], byMissingNode: new Map(), terminating: [], count: 0 }
  for await (const page of pagesOf(store, { resource: pods, namespace: '' }, run.budget)) {
    for (const stored of page) {
      found.count += 1
      const decode = (): Pod => stored.decode(pods) as Pod
      const nodeName = fieldOf(pods, stored, 'spec.nodeName')
      const phase = fieldOf(pods, stored, 'status.phase')
      if (phase === 'Succeeded' || phase === 'Failed') found.finished.push(stored)
      const isOut = nodeName === '' ? true : outOfService.get(nodeName)
      if (isOut === undefined) getOrInsert(found.byMissingNode, nodeName, () => []).push(decode())
      else if (isOut && isTerminating(decode())) found.terminating.push(decode())
      await run.budget.yieldIfSpent()
    }
  }
  return found
}

async function collect({ parts, writer, resources: { pods } }: Context, found: readonly Pod[], condition?: object): Promise<void> {
  const { clock, gates } = parts.engine
  await inParallel(found, maxParallelDeletions, async (pod) => {
    const { namespace = '', name = '', uid } = pod.metadata ?? {}
    const current = readObject<Pod>(parts, { resource: pods, namespace, name })
    if (current === undefined || current.metadata?.uid !== uid) return
    const isUnfinished = !isFinishedPod(current)
    if (gates('PodDisruptionConditions') && (isUnfinished || condition !== undefined)) {
      const status = {
        ...(isUnfinished ? { phase: 'Failed' } : {}),
        ...(condition === undefined ? {} : { conditions: [{ ...condition, lastTransitionTime: timeOf(clock.now()) }] }),
      }
      await ignoreErrors(notFoundOrConflict, writer.patch(pods, current, { type: 'strategic', patch: { status }, subresource: 'status' }))
    }
    await ignoreErrors(notFoundOrConflict, writer.delete(pods, current, { gracePeriodSeconds: 0 }))
  })
}
