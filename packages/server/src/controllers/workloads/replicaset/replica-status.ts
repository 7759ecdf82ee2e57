// Status of a ReplicaSet or ReplicationController: counts of its active pods, and the condition ReplicaFailure.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { ReplicaSet } from '@cluster-apiserver/api/resources/apps/v1.schema.js'
import type { Pod, ReplicationController } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { conditionOf, withCondition, withoutCondition, withoutZeros } from '../kit/conditions.js'
import { isAvailablePod, isReadyPod } from '../kit/pod-state.js'

export type ReplicaOwner = ReplicaSet | ReplicationController
type Status = NonNullable<ReplicaSet['status']>

interface StatusInput {
  /** Active pods, before this run created or deleted any. */
  readonly pods: readonly Pod[]
  readonly failure: { readonly failure: unknown } | undefined
  readonly nowMs: number
}

export function replicaStatus({ metadata, spec, status }: ReplicaOwner, { pods, failure, nowMs }: StatusInput): Status {
  const { minReadySeconds = 0, replicas: wanted = 1, template } = spec ?? {}
  const templateLabels = Object.entries(template?.metadata?.labels ?? {})
  const isFullyLabeled = (pod: Pod): boolean => templateLabels.every(([name, value]) => pod.metadata?.labels?.[name] === value)
  const counts = withoutZeros({
    replicas: pods.length,
    fullyLabeledReplicas: pods.filter(isFullyLabeled).length,
    readyReplicas: pods.filter(isReadyPod).length,
    availableReplicas: pods.filter((pod) => isAvailablePod(pod, minReadySeconds, nowMs)).length,
    observedGeneration: metadata?.generation,
  })
  const before = (status?.conditions ?? []) as NonNullable<Status['conditions']>
  const conditions = conditionsAfter(before, { failure, nowMs, reason: pods.length < wanted ? 'FailedCreate' : 'FailedDelete' })
  return { ...counts, ...(conditions.length === 0 ? {} : { conditions }) } as Status
}

interface FailureInput {
  readonly failure: { readonly failure: unknown } | undefined
  readonly reason: string
  readonly nowMs: number
}

/** The condition keeps its first message until a run succeeds. */
function conditionsAfter(
  before: NonNullable<Status['conditions']>,
  { failure, reason, nowMs }: FailureInput,
): NonNullable<Status['conditions']> {
  if (failure === undefined) return withoutCondition(before, 'ReplicaFailure')
  if (conditionOf(before, 'ReplicaFailure') !== undefined) return before
  const lastTransitionTime = timeOf(nowMs)
  return withCondition(before, {
    type: 'ReplicaFailure',
    status: 'True',
    reason,
    message: errorMessage(failure.failure),
    lastTransitionTime,
  })
}
