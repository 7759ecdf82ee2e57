// Limits of a recommendation: stabilization windows, scaling policies, minimum and maximum. Keeps recent recommendations and scalings.

import type { HorizontalPodAutoscaler, HPAScalingRules } from '@cluster-apiserver/api/resources/autoscaling/v2.schema.js'

interface Sample {
  readonly atMs: number
  readonly count: number
}

/** Recent samples of one autoscaler, in memory only: a restarted server begins with the current number of replicas. */
export interface ScaleHistory {
  recommendations: readonly Sample[]
  ups: readonly Sample[]
  downs: readonly Sample[]
}

export const newHistory = (replicas: number, nowMs: number): ScaleHistory => ({
  recommendations: [{ atMs: nowMs, count: replicas }],
  ups: [],
  downs: [],
})

interface Reason {
  readonly reason: string
  readonly message: string
}

interface Limited {
  readonly replicas: number
  readonly able: Reason
  readonly limited: Reason & { readonly status: 'True' | 'False' }
}

interface Recommendation {
  readonly current: number
  readonly desired: number
  readonly min: number
  readonly nowMs: number
}

const defaultDownWindowSeconds = 300
const scaleUpFactor = 2
const scaleUpMinimum = 4

const within = (samples: readonly Sample[], seconds: number, nowMs: number): readonly Sample[] =>
  samples.filter(({ atMs }) => atMs > nowMs - seconds * 1000)

export function limit({ spec }: HorizontalPodAutoscaler, history: ScaleHistory, recommendation: Recommendation): Limited {
  const { current, desired, min, nowMs } = recommendation
  const { behavior, maxReplicas = 0 } = spec ?? {}
  const upSeconds = behavior?.scaleUp?.stabilizationWindowSeconds ?? 0
  const downSeconds = behavior?.scaleDown?.stabilizationWindowSeconds ?? defaultDownWindowSeconds
  const counts = (seconds: number): readonly number[] => within(history.recommendations, seconds, nowMs).map(({ count }) => count)
  const highest = Math.max(desired, ...counts(downSeconds))
  const stabilized = behavior === undefined ? highest : Math.min(Math.max(current, Math.min(desired, ...counts(upSeconds))), highest)
  history.recommendations = [...within(history.recommendations, Math.max(upSeconds, downSeconds), nowMs), { atMs: nowMs, count: desired }]
  const upLimit =
    behavior === undefined
      ? Math.max(scaleUpFactor * current, scaleUpMinimum)
      : Math.max(current, policyLimit(behavior.scaleUp, history, { current, nowMs, sign: 1 }))
  const downLimit = behavior === undefined ? 0 : Math.min(current, policyLimit(behavior.scaleDown, history, { current, nowMs, sign: -1 }))
  const range = {
    min: behavior === undefined ? min : Math.max(min, downLimit),
    max: Math.min(maxReplicas, upLimit),
  }
  const isUp = behavior === undefined || stabilized > current
  const isDown = behavior === undefined || stabilized < current
  const limitedTo = (replicas: number, reason: Reason): Limited => ({
    replicas,
    able: stabilized === desired ? readyReason : stabilizedReason(behavior === undefined || desired < current),
    limited: { ...reason, status: replicas === stabilized ? 'False' : 'True' },
  })
  if (isDown && stabilized < range.min) return limitedTo(range.min, range.min > min ? downRate : tooFew)
  if (isUp && stabilized > range.max) return limitedTo(range.max, range.max < maxReplicas ? upRate : tooMany)
  return limitedTo(stabilized, withinRange)
}

const readyReason = { reason: 'ReadyForNewScale', message: 'recommended size matches current size' }
const stabilizedReason = (isDown: boolean): Reason =>
  isDown
    ? {
        reason: 'ScaleDownStabilized',
        message: 'recent recommendations were higher than current one, applying the highest recent recommendation',
      }
    : {
        reason: 'ScaleUpStabilized',
        message: 'recent recommendations were lower than current one, applying the lowest recent recommendation',
      }
const upRate = { reason: 'ScaleUpLimit', message: 'the desired replica count is increasing faster than the maximum scale rate' }
const downRate = { reason: 'ScaleDownLimit', message: 'the desired replica count is decreasing faster than the maximum scale rate' }
const tooMany = { reason: 'TooManyReplicas', message: 'the desired replica count is more than the maximum replica count' }
const tooFew = { reason: 'TooFewReplicas', message: 'the desired replica count is less than the minimum replica count' }
const withinRange = { reason: 'DesiredWithinRange', message: 'the desired count is within the acceptable range' }

interface Direction {
  readonly current: number
  readonly nowMs: number
  /** 1: up; -1: down. */
  readonly sign: 1 | -1
}

/** The count of replicas that the policies allow at most (up) or at least (down). */
function policyLimit(rules: HPAScalingRules | undefined, history: ScaleHistory, { current, nowMs, sign }: Direction): number {
  const { selectPolicy = 'Max', policies = [] } = rules ?? {}
  if (selectPolicy === 'Disabled') return current
  const proposals = policies.map(({ type, value = 0, periodSeconds = 0 }) => {
    const sum = (samples: readonly Sample[]): number => within(samples, periodSeconds, nowMs).reduce((all, { count }) => all + count, 0)
    const start = current - sum(history.ups) + sum(history.downs)
    if (type === 'Pods') return start + sign * value
    const percent = start * (1 + (sign * value) / 100)
    return sign === 1 ? Math.ceil(percent) : Math.trunc(percent)
  })
  // The largest change for Max, the smallest for Min.
  const isHighest = (selectPolicy === 'Min') === (sign === -1)
  return isHighest ? Math.max(0, ...proposals) : Math.min(...proposals)
}

export function noteScaling(
  { spec }: HorizontalPodAutoscaler,
  history: ScaleHistory,
  change: { from: number; to: number; nowMs: number },
): void {
  const { behavior } = spec ?? {}
  if (behavior === undefined) return
  const { from, to, nowMs } = change
  const longest = (rules: HPAScalingRules | undefined): number =>
    Math.max(0, ...(rules?.policies ?? []).map(({ periodSeconds = 0 }) => periodSeconds))
  const longestSeconds = Math.max(longest(behavior.scaleUp), longest(behavior.scaleDown))
  const sample = { atMs: nowMs, count: Math.abs(to - from) }
  if (to > from) history.ups = [...within(history.ups, longestSeconds, nowMs), sample]
  else history.downs = [...within(history.downs, longestSeconds, nowMs), sample]
}
