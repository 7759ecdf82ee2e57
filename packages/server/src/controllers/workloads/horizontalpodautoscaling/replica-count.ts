// Number of replicas that a metric proposes, with the rules for pods that are not ready or have no metrics. Values are milli-units.

import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { parseQuantity, quantityMilliValue } from '@cluster-apiserver/api/schema/quantity.js'
import { isReadyPod, podConditionOf } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'

/** Ratios this close to 1 change nothing. */
const tolerance = 0.1
const cpuInitializationMs = 300_000
const initialReadinessDelayMs = 30_000

export interface PodValue {
  readonly value: number
  /** Of the last sample; absent for custom metrics. */
  readonly atMs?: number
  readonly windowMs?: number
}

export type PodValues = ReadonlyMap<string, PodValue>

interface Proposal {
  readonly replicas: number
  /** Average over the pods with metrics. */
  readonly average: number
  /** Percentage of the requests; of utilization targets only. */
  readonly utilization?: number
}

interface PodGroups {
  readonly ready: number
  readonly unready: readonly string[]
  readonly missing: readonly string[]
  /** Terminating and failed pods. */
  readonly ignored: readonly string[]
}

const timeMs = (time: string | undefined): number => (time === undefined ? 0 : Date.parse(time))

function groupPods(pods: readonly Pod[], values: PodValues, { isCpu, nowMs }: { isCpu: boolean; nowMs: number }): PodGroups {
  const groups = { ready: 0, unready: [] as string[], missing: [] as string[], ignored: [] as string[] }
  for (const pod of pods) {
    const name = pod.metadata?.name ?? ''
    const value = values.get(name)
    if (isTerminating(pod) || pod.status?.phase === 'Failed') groups.ignored.push(name)
    else if (pod.status?.phase === 'Pending') groups.unready.push(name)
    else if (value === undefined) groups.missing.push(name)
    else if (isCpu && isUnready(pod, value, nowMs)) groups.unready.push(name)
    else groups.ready += 1
  }
  return groups
}

/** The CPU usage of a pod that starts says nothing about its load. */
function isUnready(pod: Pod, { atMs = 0, windowMs = 0 }: PodValue, nowMs: number): boolean {
  const condition = podConditionOf(pod, 'Ready')
  const startTime = pod.status?.startTime
  if (condition === undefined || startTime == null) return true
  const sinceMs = timeMs(condition.lastTransitionTime ?? undefined)
  const startMs = timeMs(startTime)
  if (startMs + cpuInitializationMs > nowMs) return condition.status === 'False' || atMs < sinceMs + windowMs
  return condition.status === 'False' && startMs + initialReadinessDelayMs > sinceMs
}

interface Ratio extends Omit<Proposal, 'replicas'> {
  readonly ratio: number
}

interface MetricRule {
  readonly pods: readonly Pod[]
  readonly values: PodValues
  readonly currentReplicas: number
  readonly isCpu: boolean
  readonly nowMs: number
}

interface Ratios {
  readonly ratioOf: (values: PodValues) => Ratio
  /** Assumed value of a pod without metrics if the others would scale down. */
  readonly fullValueOf: (pod: string) => number
}

function propose({ pods, values, currentReplicas, isCpu, nowMs }: MetricRule, ratios: () => Ratios): Proposal {
  if (pods.length === 0) throw new Error('no pods returned by selector while calculating replica count')
  const { ready, unready, missing, ignored } = groupPods(pods, values, { isCpu, nowMs })
  const counted = new Map(values)
  for (const name of [...unready, ...ignored]) counted.delete(name)
  const { ratioOf, fullValueOf } = ratios()
  if (counted.size === 0) throw new Error('did not receive metrics for any ready pods')
  const { ratio, ...measured } = ratioOf(counted)
  const unchanged: Proposal = { replicas: currentReplicas, ...measured }
  const countsUnready = unready.length > 0 && ratio > 1
  if (!countsUnready && missing.length === 0)
    return Math.abs(1 - ratio) <= tolerance ? unchanged : { ...unchanged, replicas: Math.ceil(ratio * ready) }
  if (ratio !== 1) for (const name of missing) counted.set(name, { value: ratio < 1 ? fullValueOf(name) : 0 })
  if (countsUnready) for (const name of unready) counted.set(name, { value: 0 })
  const { ratio: adjusted } = ratioOf(counted)
  if (Math.abs(1 - adjusted) <= tolerance || (ratio < 1 && adjusted > 1) || (ratio > 1 && adjusted < 1)) return unchanged
  const replicas = Math.ceil(adjusted * counted.size)
  if ((adjusted < 1 && replicas > currentReplicas) || (adjusted > 1 && replicas < currentReplicas)) return unchanged
  return { ...unchanged, replicas }
}

/** For a target that is a percentage of the requests. `container` narrows it to one container of each pod. */
export const replicasForUtilization = (
  rule: MetricRule,
  { resource, target, container }: { resource: string; target: number; container?: string },
): Proposal =>
  propose(rule, () => {
    const requests = requestsOf(rule.pods, resource, container)
    return {
      fullValueOf: (name) => ((requests.get(name) ?? 0) * Math.max(100, target)) / 100,
      ratioOf: (values) => {
        let [total, requested, count] = [0, 0, 0]
        for (const [name, { value }] of values) {
          const request = requests.get(name)
          if (request === undefined) continue
          total += value
          requested += request
          count += 1
        }
        if (requested === 0) throw new Error('no metrics returned matched known pods')
        const utilization = Math.trunc((total * 100) / requested)
        return { ratio: utilization / target, utilization, average: Math.trunc(total / count) }
      },
    }
  })

/** For a target that is an average value of the pods. */
export const replicasForAverage = (rule: MetricRule, target: number): Proposal =>
  propose(rule, () => ({
    fullValueOf: () => target,
    ratioOf: (values) => {
      let total = 0
      for (const { value } of values.values()) total += value
      const average = Math.trunc(total / values.size)
      return { ratio: average / target, average }
    },
  }))

function requestsOf(pods: readonly Pod[], resource: string, only: string | undefined): ReadonlyMap<string, number> {
  return new Map(
    pods.map(({ metadata, spec }) => {
      let sum = 0
      for (const { name, resources } of spec?.containers ?? []) {
        if (only !== undefined && name !== only) continue
        const request = resources?.requests?.[resource]
        if (request === undefined) throw new Error(`missing request for ${resource} in container ${name} of Pod ${metadata?.name}`)
        sum += Number(quantityMilliValue(parseQuantity(request)))
      }
      return [metadata?.name ?? '', sum]
    }),
  )
}

/** For the value of an object or of an external metric as a whole. */
export function replicasForValue(
  value: number,
  target: number,
  { pods, currentReplicas }: Pick<MetricRule, 'pods' | 'currentReplicas'>,
): number {
  const ratio = value / target
  if (currentReplicas === 0) return Math.ceil(ratio)
  if (Math.abs(1 - ratio) <= tolerance) return currentReplicas
  if (pods.length === 0) throw new Error('unable to calculate ready pods: no pods returned by selector while calculating replica count')
  return Math.ceil(ratio * pods.filter((pod) => pod.status?.phase === 'Running' && isReadyPod(pod)).length)
}

/** For the value of an object or of an external metric, divided by the number of replicas. */
export const replicasForValuePerPod = (value: number, target: number, statusReplicas: number): Proposal => ({
  replicas: Math.abs(1 - value / (target * statusReplicas)) > tolerance ? Math.ceil(value / target) : statusReplicas,
  average: Math.ceil(value / statusReplicas),
})
