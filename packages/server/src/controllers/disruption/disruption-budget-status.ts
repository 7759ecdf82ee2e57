// What the status of a disruption budget says: how many pods there shall be, how many are well, and how many may be disturbed.

import { own } from '../../base/own.js'
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from '../../resources/policy/v1.schema.js'
import { timeOf } from '../../schema/scalars.js'
import type { CountedPod } from './expected-pods.js'

/** How long an evicted pod has to go before it counts again. */
const deletionMs = 2 * 60_000

type Conditions = NonNullable<PodDisruptionBudgetStatus['conditions']>

/** A number, or a part of the whole in percent, rounded up. */
export const scaled = (wanted: number | string, total: number): number =>
  typeof wanted === 'number' ? wanted : Math.ceil((Number(wanted.replace('%', '')) * total) / 100)

export interface Disrupted {
  /** Pods that were evicted and are still there, with the time of that. */
  readonly pods: { readonly [name: string]: string }
  /** Those whose time is over. */
  readonly late: readonly string[]
  /** When the first of the others is late, in milliseconds since 1970. */
  readonly againMs: number | undefined
}

export function disruptedPods(budget: PodDisruptionBudget, pods: readonly CountedPod[], nowMs: number): Disrupted {
  const found: Record<string, string> = {}
  const late: string[] = []
  let againMs: number | undefined
  for (const { name, isGoing } of pods) {
    const since = own(budget.status?.disruptedPods, name)
    if (since === undefined || isGoing) continue
    const endMs = Date.parse(since) + deletionMs
    if (endMs < nowMs) late.push(name)
    else {
      found[name] = since
      againMs = Math.min(againMs ?? endMs, endMs)
    }
  }
  return { pods: found, late, againMs }
}

export interface Counted {
  readonly budget: PodDisruptionBudget
  readonly pods: readonly CountedPod[]
  readonly expected: number
  readonly desired: number
  readonly disrupted: Disrupted
  readonly nowMs: number
}

export function countedStatus({ budget, pods, expected, desired, disrupted, nowMs }: Counted): PodDisruptionBudgetStatus {
  const healthy = pods.filter(({ name, isGoing, isReady }) => isReady && !isGoing && own(disrupted.pods, name) === undefined).length
  // A budget without pods allows nothing, so that the first pods that come are not disturbed before they were counted.
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
      nowMs,
    }),
  }
}

/** Where it cannot be counted, nothing is allowed. */
export const failedStatus = (budget: PodDisruptionBudget, message: string, nowMs: number): PodDisruptionBudgetStatus => ({
  ...(budget.status as PodDisruptionBudgetStatus),
  disruptionsAllowed: 0,
  conditions: withCondition(budget, { status: 'False', reason: 'SyncFailed', message, nowMs }),
})

interface Told {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
  readonly nowMs: number
}

function withCondition({ metadata, status }: PodDisruptionBudget, { nowMs, ...told }: Told): Conditions {
  const conditions = status?.conditions ?? []
  const before = conditions.find(({ type }) => type === 'DisruptionAllowed')
  const since = before?.status === told.status ? before.lastTransitionTime : undefined
  const generation = metadata?.generation
  const condition = {
    type: 'DisruptionAllowed',
    ...told,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    lastTransitionTime: since ?? timeOf(nowMs),
  }
  return before === undefined ? [...conditions, condition] : conditions.map((other) => (other === before ? condition : other))
}
