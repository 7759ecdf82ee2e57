// Job controller: runs pods until enough of them succeed, and counts them through a finalizer.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { ObjectAddress } from '../../../objects/object-store.js'
import { type DelayedKey, KeyedController, type Source } from '../../framework/controller.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { adoptersOf } from '../kit/claim-objects.js'
import { controllerOfStored } from '../kit/controlled-objects.js'
import { dependentsSource, orphanOf } from '../kit/owner-keys.js'
import { addressOfKey, controllerRefOf, isTerminating, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { type JobContext, podClaimOf, reconcileJob, releasePods } from './job-run.js'
import { finishedConditionOf, isTracked, jobNamesOf } from './job-state.js'

/** Delay of changes of pods, so that one status write covers several. */
const podBatchMs = 1000
/** Delay after repeated failures of pods: doubles with each, up to `maxMs`. */
const retryDelays = { firstMs: 10_000, maxMs: 360_000 }

export const jobs = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'job-controller')
  const names = jobNamesOf(parts.engine.identity)
  const finalizerBytes = Buffer.from(JSON.stringify(names.tracking))
  /** Number of runs that saw new failures, by key; a success and the end of the Job reset it. */
  const retries = new Map<string, number>()
  const contextOf = (catalog: Catalog): JobContext | undefined => {
    const [owners, pods] = [catalog.find('batch', 'v1', 'jobs'), catalog.find('', 'v1', 'pods')]
    return owners === undefined || pods === undefined ? undefined : { parts, writer, names, jobs: owners, pods, retryDelayMs, retries }
  }
  const retryDelayMs = (key: string): number => {
    const count = retries.get(key) ?? 0
    return count === 0 ? 0 : Math.min(retryDelays.firstMs * 2 ** (count - 1), retryDelays.maxMs)
  }
  return new KeyedController(parts, {
    name: 'job',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const context = contextOf(catalog)
      return context === undefined ? [] : [jobsSource(context), podsSource(context), leftoversSource(context, finalizerBytes)]
    },
    work: async (key) => {
      const context = contextOf(parts.catalogs.current)
      if (context === undefined) return undefined
      const orphan = orphanOf(key)
      const deleted = deletedJobOf(key)
      if (orphan !== undefined) return adoptOrRelease(context, { resource: context.pods, ...orphan })
      if (deleted === undefined) return reconcileJob(context, key, addressOfKey(context.jobs, key))
      await releasePods(context, await parts.controlled.controlledBy<Pod>(context.pods, deleted))
      return undefined
    },
  })
}

/** Key of a deleted Job, whose pods must lose their finalizer: `<namespace>/<name>/<uid>`. */
function deletedJobOf(key: string): { readonly namespace: string; readonly uid: string } | undefined {
  const [namespace = '', , uid] = key.split('/')
  return uid === undefined ? undefined : { namespace, uid }
}

const jobsSource = ({ jobs: resource }: JobContext): Source => ({
  resource,
  namespace: '',
  keyOf: (stored, eventType) => {
    const { namespace, name } = partsOf(resource, stored.key)
    const key = `${namespace}/${name}`
    return eventType === 'DELETED' ? [key, `${key}/${stored.decode(resource).metadata?.uid}`] : key
  },
})

/** Failed pods wait longer the more often pods of the Job failed. */
function podsSource({ parts, pods, jobs: owners, retryDelayMs }: JobContext): Source {
  const source = dependentsSource(parts, pods, owners)
  return {
    ...source,
    keyOf: (stored, eventType, previous): readonly DelayedKey[] => {
      const keys = source.keyOf(stored, eventType, previous) as readonly string[]
      if (keys.length === 0) return []
      const pod = stored.decode(pods) as Pod
      const hasFailed = eventType === 'MODIFIED' && pod.status?.phase === 'Failed' && !isTerminating(pod)
      return keys.map((key) => ({
        key,
        afterMs: orphanOf(key) !== undefined ? 0 : hasFailed ? Math.max(retryDelayMs(key), podBatchMs) : podBatchMs,
      }))
    },
  }
}

/** Pods with the finalizer that no Job counts any more: without a controller, or terminating after their Job was finished or deleted. */
const leftoversSource = ({ parts, pods, jobs: owners, names }: JobContext, finalizerBytes: Buffer): Source => ({
  resource: pods,
  namespace: '',
  matches: ({ entry }) => entry.value.includes(finalizerBytes),
  keyOf: (stored: StoredObject, eventType) => {
    if (eventType === 'DELETED') return undefined
    const { namespace, name } = partsOf(pods, stored.key)
    const controller = controllerOfStored(stored)
    const pod = stored.decode(pods) as Pod
    if (!isTracked(pod, names) || (controller !== undefined && !isTerminating(pod))) return undefined
    return isCountedByJob({ parts, jobs: owners }, pod) ? undefined : `${namespace}//${name}`
  },
})

/** True if an unfinished Job controls the pod: it counts the pod and removes the finalizer. */
function isCountedByJob({ parts, jobs: resource }: Pick<JobContext, 'parts' | 'jobs'>, pod: Pod): boolean {
  const controller = controllerRefOf(pod)
  if (controller?.kind !== resource.kind) return false
  const job = readObject<Job>(parts, { resource, namespace: pod.metadata?.namespace ?? '', name: controller.name ?? '' })
  return job !== undefined && job.metadata?.uid === controller.uid && finishedConditionOf(job) === undefined
}

/** Queues the Jobs that may adopt the pod, or removes the finalizer of a pod that no Job counts. */
async function adoptOrRelease(context: JobContext, address: ObjectAddress): Promise<Outcome> {
  const { parts, jobs: owners } = context
  const adopters = await adoptersOf<Job, Pod>(parts, {
    address,
    owners,
    requestOf: (job) => (finishedConditionOf(job) === undefined ? podClaimOf(context, job) : undefined),
  })
  const pod = readObject<Pod>(parts, address)
  if (adopters === undefined && pod !== undefined && !isCountedByJob(context, pod)) await releasePods(context, [pod])
  return adopters
}
