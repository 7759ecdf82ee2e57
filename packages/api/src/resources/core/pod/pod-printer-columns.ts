// Printer columns of pods: ready containers, status, restarts.

import { ageColumn, nameColumn, textColumn } from '../../../api/definition/printer-columns.js'
import type { RowCondition, RuleContext } from '../../../api/definition/resource-definition.js'
import { ageOf } from '../../../api/human-duration.js'
import type { ContainerState, ContainerStatus, Pod } from '../v1.schema.js'

interface PodSummary {
  readonly reason: string
  readonly ready: number
  readonly restarts: number
  readonly lastRestart: string | undefined
}

const isLater = (time: string | undefined, than: string | undefined): boolean => time !== undefined && (than === undefined || time > than)

/** Summary of running or failed init containers, which hides the other containers. */
function summarizeInit({ spec, status }: Pod): PodSummary | undefined {
  const statuses = status?.initContainerStatuses ?? []
  let restarts = 0
  let lastRestart: string | undefined
  for (let i = 0; i < statuses.length; i++) {
    const { state = {}, lastState, restartCount = 0 } = statuses[i] as ContainerStatus
    restarts += restartCount
    if (isLater(lastState?.terminated?.finishedAt, lastRestart)) lastRestart = lastState?.terminated?.finishedAt
    if (state.terminated !== undefined && (state.terminated.exitCode ?? 0) === 0) continue
    return { reason: `Init:${initReason(state, i, spec?.initContainers?.length ?? 0)}`, ready: 0, restarts, lastRestart }
  }
  return undefined
}

function initReason({ terminated, waiting }: ContainerState, index: number, count: number): string {
  if (terminated !== undefined) return terminationReason(terminated)
  const reason = waiting?.reason ?? ''
  return reason !== '' && reason !== 'PodInitializing' ? reason : `${index}/${count}`
}

function terminationReason({ reason = '', signal = 0, exitCode = 0 }: NonNullable<ContainerState['terminated']>): string {
  if (reason !== '') return reason
  return signal === 0 ? `ExitCode:${exitCode}` : `Signal:${signal}`
}

/** The first waiting or terminated container gives the reason, otherwise the phase. Init containers count only for the last restart. */
function summarizeContainers(pod: Pod, phase: string): PodSummary {
  const statuses = pod.status?.containerStatuses ?? []
  let [reason, ready, restarts] = [phase, 0, 0]
  let lastRestart: string | undefined
  for (const { lastState } of pod.status?.initContainerStatuses ?? []) {
    if (isLater(lastState?.terminated?.finishedAt, lastRestart)) lastRestart = lastState?.terminated?.finishedAt
  }
  for (const { state = {}, lastState, restartCount = 0, ready: isReady } of statuses.toReversed()) {
    restarts += restartCount
    if (isLater(lastState?.terminated?.finishedAt, lastRestart)) lastRestart = lastState?.terminated?.finishedAt
    if ((state.waiting?.reason ?? '') !== '') reason = state.waiting?.reason ?? ''
    else if (state.terminated !== undefined) reason = terminationReason(state.terminated)
    else if (isReady === true && state.running !== undefined) ready++
  }
  if (reason === 'Completed' && ready > 0) reason = isConditionTrue(pod, 'Ready') ? 'Running' : 'NotReady'
  return { reason, ready, restarts, lastRestart }
}

const conditionOf = ({ status }: Pod, type: string) => status?.conditions?.find((condition) => condition.type === type)

const isConditionTrue = (pod: Pod, type: string): boolean => conditionOf(pod, type)?.status === 'True'

const gatedReason = 'SchedulingGated'

function summarize(pod: Pod): PodSummary {
  const isGated = (pod.status?.conditions ?? []).some(({ type, reason }) => type === 'PodScheduled' && reason === gatedReason)
  const phase = isGated ? gatedReason : pod.status?.reason || pod.status?.phase || ''
  const summary = summarizeInit(pod) ?? summarizeContainers(pod, phase)
  if (pod.metadata?.deletionTimestamp === undefined) return summary
  return { ...summary, reason: pod.status?.reason === 'NodeLost' ? 'Unknown' : 'Terminating' }
}

function readinessGatesOf(pod: Pod): string {
  const gates = pod.spec?.readinessGates ?? []
  if (gates.length === 0) return none
  return `${gates.filter(({ conditionType = '' }) => isConditionTrue(pod, conditionType)).length}/${gates.length}`
}

const none = '<none>'

export const podColumns = [
  nameColumn,
  textColumn('Ready', 'Ready containers out of all containers.'),
  textColumn('Status', 'Status of the pod.'),
  textColumn('Restarts', 'Number of restarts, and time since the last one.'),
  ageColumn,
  textColumn('IP', 'First IP address of the pod.', 1),
  textColumn('Node', 'Node of the pod.', 1),
  textColumn('Nominated Node', 'Node on which pods are preempted for the pod.', 1),
  textColumn('Readiness Gates', 'True readiness gates out of all readiness gates.', 1),
]

export function podCells(pod: Pod, { now }: Pick<RuleContext, 'now'>): readonly unknown[] {
  const { reason, ready, restarts, lastRestart } = summarize(pod)
  return [
    pod.metadata?.name ?? '',
    `${ready}/${pod.spec?.containers?.length ?? 0}`,
    reason,
    lastRestart === undefined ? `${restarts}` : `${restarts} (${ageOf(lastRestart, now)} ago)`,
    ageOf(pod.metadata?.creationTimestamp, now),
    pod.status?.podIPs?.[0]?.ip || none,
    pod.spec?.nodeName || none,
    pod.status?.nominatedNodeName || none,
    readinessGatesOf(pod),
  ]
}

const completedConditions: { readonly [phase: string]: readonly RowCondition[] } = {
  Succeeded: [{ type: 'Completed', status: 'True', reason: 'Succeeded', message: 'The pod has completed successfully.' }],
  Failed: [{ type: 'Completed', status: 'True', reason: 'Failed', message: 'The pod failed.' }],
}
const noConditions: readonly RowCondition[] = []

export const podRowConditions = ({ status }: Pod): readonly RowCondition[] => completedConditions[status?.phase ?? ''] ?? noConditions
