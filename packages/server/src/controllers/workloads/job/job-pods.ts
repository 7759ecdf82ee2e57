// Pods that a Job creates and removes.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Job } from '@cluster-apiserver/api/resources/batch/v1.schema.js'
import type { Pod, PodTemplateSpec } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { type PodOwner, podOfTemplate } from '../kit/pod-control.js'
import { rankForDeletion } from '../kit/pod-ranking.js'
import { firstFreeIndexes, withIndexes } from './completion-indexes.js'
import { completionIndexOf, isCountable, isIndexed, type JobCounts, type JobNames } from './job-state.js'

/** Name of a label value with 63 characters, without the generated end. */
const maxGeneratedName = 58
const indexVariable = 'JOB_COMPLETION_INDEX'

/** Returns the pods to create: at most `count`, and not more than there are free indexes. */
export function podsToCreate(job: Job, { resource, counts, count, names }: CreationInput): readonly Pod[] {
  const { template = {} } = job.spec ?? {}
  const { finalizers = [] } = template.metadata ?? {}
  const tracked: PodTemplateSpec = {
    ...template,
    metadata: { ...template.metadata, finalizers: finalizers.includes(names.tracking) ? finalizers : [...finalizers, names.tracking] },
  }
  if (!isIndexed(job)) return Array.from({ length: count }, () => podOfTemplate({ owner: job, resource }, tracked))
  const activeIndexes = counts.active.flatMap((pod) => completionIndexOf(pod, names) ?? [])
  const taken = withIndexes(counts.indexes, activeIndexes)
  const pod = podOfTemplate({ owner: job, resource }, withIndexVariable(tracked, names))
  return firstFreeIndexes(taken, count, job.spec?.completions ?? 0).map((index) => withIndex(job, pod, { index, names }))
}

interface CreationInput extends Pick<PodOwner, 'resource'> {
  readonly counts: JobCounts
  readonly count: number
  readonly names: JobNames
}

/** Adds the completion index to the environment of all containers that do not define the variable themselves. */
function withIndexVariable(template: PodTemplateSpec, names: JobNames): PodTemplateSpec {
  const variable = { name: indexVariable, valueFrom: { fieldRef: { fieldPath: `metadata.annotations['${names.index}']` } } }
  const { containers = [], initContainers, ...spec } = template.spec ?? {}
  const withVariable = <C extends { readonly env?: readonly { readonly name?: string }[] }>(container: C): C =>
    container.env?.some(({ name }) => name === indexVariable) ? container : { ...container, env: [...(container.env ?? []), variable] }
  return {
    ...template,
    spec: {
      ...spec,
      containers: containers.map(withVariable),
      ...(initContainers === undefined ? {} : { initContainers: initContainers.map(withVariable) }),
    },
  } as PodTemplateSpec
}

function withIndex({ metadata }: Job, pod: Pod, { index, names }: { readonly index: number; readonly names: JobNames }): Pod {
  const { name = '' } = metadata ?? {}
  const end = `-${index}-`
  return {
    ...pod,
    metadata: {
      ...pod.metadata,
      generateName: `${name.slice(0, maxGeneratedName - end.length)}${end}`,
      annotations: { ...pod.metadata?.annotations, [names.index]: String(index) },
    },
    spec: { ...pod.spec, hostname: `${name}-${index}` },
  } as Pod
}

interface RemovalInput {
  readonly count: number
  readonly names: JobNames
  readonly identity: Identity
  readonly nowMs: number
}

/** Active pods to delete: at least `count`, with all pods of an Indexed Job that have no valid index or the index of another pod. */
export function podsToRemove(job: Job, active: readonly Pod[], { count, names, identity, nowMs }: RemovalInput): readonly Pod[] {
  const ranked = rankForDeletion(active, { identity, nowMs, isOfJob: true })
  if (!isIndexed(job)) return ranked.slice(0, count)
  const kept = new Set(
    new Map(ranked.filter((pod) => isCountable(job, pod, names)).map((pod) => [completionIndexOf(pod, names), pod])).values(),
  )
  const invalid = ranked.filter((pod) => !kept.has(pod))
  return [...invalid, ...ranked.filter((pod) => kept.has(pod)).slice(0, Math.max(0, count - invalid.length))]
}
