// Phase and conditions of a simulated pod, from the statuses of its containers.

import type { ContainerStatus, Pod, PodCondition } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'

interface PodContainers {
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
}

export type Phase = 'Pending' | 'Running' | 'Succeeded' | 'Failed'

const hasSucceeded = ({ state }: ContainerStatus): boolean => state?.terminated !== undefined && (state.terminated.exitCode ?? 0) === 0
const hasFailed = ({ state }: ContainerStatus): boolean => (state?.terminated?.exitCode ?? 0) !== 0

export function phaseOf({ init, regular }: PodContainers, restartPolicy: string): Phase {
  if (!init.every(hasSucceeded)) return restartPolicy === 'Never' && init.some(hasFailed) ? 'Failed' : 'Pending'
  if (regular.some(({ state, lastState }) => state?.waiting !== undefined && lastState?.terminated === undefined)) return 'Pending'
  const isOver = regular.every(({ state }) => state?.terminated !== undefined)
  if (!isOver || restartPolicy === 'Always') return 'Running'
  if (regular.every(hasSucceeded)) return 'Succeeded'
  return restartPolicy === 'Never' ? 'Failed' : 'Running'
}

interface ConditionInput {
  readonly pod: Pod
  readonly containers: PodContainers
  readonly phase: Phase
  readonly nowMs: number
}

type Wanted = Pick<PodCondition, 'status' | 'reason' | 'message'>

/** The conditions of a kubelet in its order, then all other conditions. Returns the same list if nothing changed. */
export function conditionsOf({ pod, containers, phase, nowMs }: ConditionInput): readonly PodCondition[] {
  const before = pod.status?.conditions ?? []
  const containersReady = readiness(containers.regular, phase)
  const wanted: readonly (readonly [type: string, wanted: Wanted])[] = [
    ['Initialized', initialization(containers.init, phase)],
    ['Ready', containersReady.status === 'True' ? gates(pod) : containersReady],
    ['ContainersReady', containersReady],
    ['PodScheduled', { status: 'True' }],
  ]
  const own = wanted.map(([type, condition]) =>
    current(
      before.find((found) => found.type === type),
      { type, ...condition },
      nowMs,
    ),
  )
  if (own.every((condition) => before.includes(condition))) return before
  return [...own, ...before.filter(({ type }) => !wanted.some(([ownType]) => ownType === type))]
}

function current(before: PodCondition | undefined, wanted: PodCondition, nowMs: number): PodCondition {
  const isSameStatus = before?.status === wanted.status
  if (
    before !== undefined &&
    isSameStatus &&
    (before.reason ?? '') === (wanted.reason ?? '') &&
    (before.message ?? '') === (wanted.message ?? '')
  )
    return before
  return { ...wanted, lastTransitionTime: (isSameStatus ? before?.lastTransitionTime : undefined) ?? timeOf(nowMs) }
}

function initialization(init: readonly ContainerStatus[], phase: Phase): Wanted {
  if (phase === 'Succeeded') return { status: 'True', reason: 'PodCompleted' }
  const incomplete = init.filter((status) => !hasSucceeded(status)).map(({ name }) => name)
  if (incomplete.length === 0) return { status: 'True' }
  return { status: 'False', reason: 'ContainersNotInitialized', message: `containers with incomplete status: [${incomplete.join(' ')}]` }
}

function readiness(regular: readonly ContainerStatus[], phase: Phase): Wanted {
  if (phase === 'Succeeded') return { status: 'False', reason: 'PodCompleted' }
  if (phase === 'Failed') return { status: 'False', reason: 'PodFailed' }
  const unready = regular.filter(({ ready }) => ready !== true).map(({ name }) => name)
  if (unready.length === 0) return { status: 'True' }
  return { status: 'False', reason: 'ContainersNotReady', message: `containers with unready status: [${unready.join(' ')}]` }
}

function gates({ spec, status }: Pod): Wanted {
  const problems = (spec?.readinessGates ?? []).flatMap(({ conditionType = '' }) => {
    const gate = status?.conditions?.find(({ type }) => type === conditionType)
    if (gate === undefined) return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`]
    return gate.status === 'True' ? [] : [`the status of pod readiness gate "${conditionType}" is not "True", but ${gate.status}`]
  })
  return problems.length === 0 ? { status: 'True' } : { status: 'False', reason: 'ReadinessGatesNotReady', message: problems.join(', ') }
}
