// The status of a PodDisruptionBudget: expected, desired and healthy pods, and allowed disruptions.

import { own } from '@cluster-apiserver/api/base/own-property.js'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '@cluster-apiserver/api/resources/policy/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { CountedPod } from './expected-pods.js'

/** Time in which an evicted pod must be deleted; afterwards it counts as healthy again. */
const deletionTimeoutMs = 2 * 60_000

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>

/** Resolves a number or a percentage, rounded up. */
export const scaled = (wanted: number | string, total: number): number =>
  typeof wanted === 'number' ? wanted : Math.ceil((Number(wanted.replace('%', '')) * total) / 100)

interface DisruptedPods {
  /** Time of eviction by pod name, of evicted pods that are neither terminating nor late. */
  readonly pods: { readonly [name: string]: string }
  /** Names of evicted pods that were not deleted within deletionTimeoutMs. */
  readonly late: readonly string[]
  /** When the next pod becomes late, in milliseconds since 1970. */
  readonly nextLateMs: number | undefined
}

export function disruptedPods(budget: PodDisruptionBudget, pods: readonly CountedPod[], nowMs: number): DisruptedPods {
  const found: Record<string, string> = {}
  const late: string[] = []
  let nextLateMs: number | undefined
  for (const pod of pods) {
    const { name, isTerminating } = pod
    const since = own(budget.status?.disruptedPods, name)
    if (since === undefined || isTerminating || isSuccessor(pod, since)) continue
    const endMs = Date.parse(since) + deletionTimeoutMs
    if (endMs < nowMs) late.push(name)
    else {
      found[name] = since
      nextLateMs = Math.min(nextLateMs ?? endMs, endMs)
    }
  }
  return { pods: found, late, nextLateMs }
}

/**
 * True for a pod that a StatefulSet created under the name of the evicted one. Times have whole seconds, and an eviction writes the budget
 * before the condition: a pod of the same second may be the evicted one.
 */
const isSuccessor = ({ created, isDisruptionTarget }: CountedPod, evicted: string): boolean =>
  created !== undefined && !isDisruptionTarget && Date.parse(created) > Date.parse(evicted)

interface StatusInput {
  readonly budget: PodDisruptionBudget
  readonly pods: readonly CountedPod[]
  readonly expected: number
  readonly desired: number
  readonly disrupted: DisruptedPods
  readonly nowMs: number
}

export function countedStatus({ budget, pods, expected, desired, disrupted, nowMs }: StatusInput): PodDisruptionBudgetStatus {
  const healthy = pods.filter(
    ({ name, isTerminating, isReady }) => isReady && !isTerminating && own(disrupted.pods, name) === undefined,
  ).length
  // Without pods nothing is allowed, so that new pods are counted before they can be evicted.
  const allowed = expected <= 0 ? 0 : Math.max(0, healthy - desired)
  const generation = budget.metadata?.generation
  const disruptedNow = Object.keys(disrupted.pods).length === 0 ? {} : { disruptedPods: disrupted.pods }
  return {
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    ...disruptedNow,
    disruptionsAllowed: allowed,
    currentHealthy: healthy,
    desiredHealthy: desired,
    expectedPods: expected,
    conditions: withCondition(budget, {
      status: allowed > 0 ? 'True' : 'False',
      reason: allowed > 0 ? 'SufficientPods' : 'InsufficientPods',
      message: '',
      observedGeneration: generation,
      nowMs,
    }),
  }
}

/** The generation stays that of the last counted status. */
export const failedStatus = (budget: PodDisruptionBudget, message: string, nowMs: number): PodDisruptionBudgetStatus => ({
  ...(budget.status as PodDisruptionBudgetStatus),
  disruptionsAllowed: 0,
  conditions: withCondition(budget, {
    status: 'False',
    reason: 'SyncFailed',
    message,
    observedGeneration: budget.status?.observedGeneration,
    nowMs,
  }),
})

interface ConditionUpdate {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly observedGeneration: number | undefined
  readonly nowMs: number
}

function withCondition({ status }: PodDisruptionBudget, { nowMs, observedGeneration, ...update }: ConditionUpdate): Conditions {
  const conditions = status?.conditions ?? []
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const since = before?.status === update.status ? before.lastTransitionTime : undefined
  const condition = {
    type: 'DisruptionAllowed',
    ...update,
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
    lastTransitionTime: since ?? timeOf(nowMs),
  }
  return before === undefined ? [...conditions, condition] : conditions.map((other) => (other === before ? condition : other))
}
