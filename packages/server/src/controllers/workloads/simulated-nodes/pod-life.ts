// Life of one simulated pod: the status that a kubelet would report at a point in time, and when it changes next.

import type { Container, ContainerStatus, Pod, PodStatus } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import { isFinishedPod } from '../kit/pod-state.js'
import { behaviourOf, type Rule } from './behaviour.js'
import {
  type ContainerEvent,
  type ContainerInput,
  type ContainerMemory,
  earliest,
  exactMs,
  liveContainer,
  stopContainer,
} from './container-life.js'
import { conditionsOf, type Phase, phaseOf } from './pod-conditions.js'

/** Local state of a pod, lost at a restart of the server: exact times and image pulls. */
export interface PodMemory {
  readonly uid: string
  readonly startMs: number
  readonly containers: ReadonlyMap<string, ContainerMemory>
  readonly isStopping: boolean
}

interface PodInput {
  readonly pod: Pod
  readonly rules: readonly Rule[]
  readonly memory: PodMemory | undefined
  readonly hostIP: string
  /** Called when the pod needs an address of its own. */
  readonly allocateIp: () => string
  readonly nowMs: number
}

interface PodOutput {
  /** Undefined if the status stays as it is. */
  readonly status: PodStatus | undefined
  readonly memory: PodMemory
  readonly events: readonly ContainerEvent[]
  readonly nextMs: number | undefined
  /** True when the containers of a terminating pod have stopped: the pod is deleted with grace period 0. */
  readonly isStopped: boolean
}

interface Statuses {
  readonly init: readonly ContainerStatus[]
  readonly regular: readonly ContainerStatus[]
  readonly ephemeral: readonly ContainerStatus[]
}

interface Progress {
  readonly statuses: Statuses
  readonly containers: ReadonlyMap<string, ContainerMemory>
  readonly events: readonly ContainerEvent[]
  readonly nextMs: number | undefined
}

export function livePod(input: PodInput): PodOutput {
  const { pod, nowMs } = input
  const memory = memoryOf(input)
  if (pod.metadata?.deletionTimestamp !== undefined) return terminate(input, memory)
  if (isFinishedPod(pod)) return { status: undefined, memory, events: [], nextMs: undefined, isStopped: false }
  if (pod.status?.startTime === undefined && countContainers(pod) > maxContainers) return reject(input, memory)
  const deadlineMs = deadlineOf(pod, memory)
  if (deadlineMs !== undefined && deadlineMs <= nowMs) return exceedDeadline(input, memory)
  const progress = advance(input, memory)
  const status = statusOf(input, memory, progress.statuses)
  const { containers, events } = progress
  return { status, memory: { ...memory, containers }, events, nextMs: earliest(progress.nextMs, deadlineMs), isStopped: false }
}

/** A status of more containers could exceed the maximum size of an object, and would be tried again and again. */
const maxContainers = 500

const countContainers = ({ spec }: Pod): number => (spec?.containers ?? []).length + (spec?.initContainers ?? []).length

function reject({ pod, nowMs }: PodInput, memory: PodMemory): PodOutput {
  const reason = 'TooManyContainers'
  const message = `Pod was rejected: a simulated node runs at most ${maxContainers} containers of a pod, it has ${countContainers(pod)}`
  const status = { ...pod.status, phase: 'Failed', reason, message, startTime: timeOf(nowMs) }
  return { status, memory, events: [{ type: 'Warning', reason, message }], nextMs: undefined, isStopped: false }
}

function memoryOf({ pod: { metadata, status }, memory, nowMs }: PodInput): PodMemory {
  const { uid = '' } = metadata ?? {}
  if (memory?.uid === uid) return memory
  const startMs = status?.startTime === undefined ? nowMs : Date.parse(status.startTime)
  return { uid, startMs, containers: new Map(), isStopping: false }
}

function deadlineOf({ spec }: Pod, { startMs }: PodMemory): number | undefined {
  const { activeDeadlineSeconds } = spec ?? {}
  return activeDeadlineSeconds === undefined ? undefined : startMs + activeDeadlineSeconds * 1000
}

function exceedDeadline(input: PodInput, memory: PodMemory): PodOutput {
  const { statuses } = advance(input, memory)
  const reason = 'DeadlineExceeded'
  const message = 'Pod was active on the node longer than the specified deadline'
  const stopped = mapStatuses(statuses, (status) => stopContainer(status, false, input.nowMs))
  const status = { ...statusOf(input, memory, stopped, 'Failed'), reason, message }
  return { status, memory, events: [{ type: 'Normal', reason, message }], nextMs: undefined, isStopped: false }
}

/** Containers after all changes that are due. */
function advance({ pod, rules, nowMs }: PodInput, memory: PodMemory): Progress {
  const { spec, status } = pod
  const { restartPolicy = 'Always' } = spec ?? {}
  const containers = new Map<string, ContainerMemory>()
  const events: ContainerEvent[] = []
  let nextMs: number | undefined
  const podId = `${pod.metadata?.name}_${pod.metadata?.namespace}(${memory.uid})`
  type Life = Pick<ContainerInput, 'restarts' | 'allowedSinceMs' | 'waitingReason'> & { readonly isInit: boolean }
  const live = ({ name = '', image = '' }: Container, present: readonly ContainerStatus[] | undefined, life: Life): ContainerStatus => {
    const output = liveContainer(
      {
        ...life,
        name,
        image,
        podId,
        status: present?.find((found) => found.name === name),
        behaviour: behaviourOf(pod, { name, image, isInit: life.isInit }, rules),
        memory: memory.containers.get(name) ?? {},
      },
      nowMs,
    )
    containers.set(name, output.memory)
    events.push(...output.events)
    nextMs = earliest(nextMs, output.nextMs)
    return output.status
  }
  let allowedSinceMs: number | undefined = memory.startMs
  const hasInit = (spec?.initContainers ?? []).length > 0
  const init = (spec?.initContainers ?? []).map((container) => {
    const result = live(container, status?.initContainerStatuses, {
      restarts: restartPolicy === 'Never' ? 'Never' : 'OnFailure',
      allowedSinceMs,
      waitingReason: 'PodInitializing',
      isInit: true,
    })
    const { terminated } = result.state ?? {}
    const isDone = terminated !== undefined && (terminated.exitCode ?? 0) === 0
    allowedSinceMs = isDone ? exactMs(containers.get(container.name ?? '') ?? {}, terminated.finishedAt) : undefined
    return result
  })
  const regular = (spec?.containers ?? []).map((container) =>
    live(container, status?.containerStatuses, {
      restarts: restartPolicy as ContainerInput['restarts'],
      allowedSinceMs,
      waitingReason: hasInit ? 'PodInitializing' : 'ContainerCreating',
      isInit: false,
    }),
  )
  const ephemeral = (spec?.ephemeralContainers ?? []).map((container) =>
    live(container as Container, status?.ephemeralContainerStatuses, {
      restarts: 'Never',
      allowedSinceMs,
      waitingReason: 'ContainerCreating',
      isInit: false,
    }),
  )
  return { statuses: { init, regular, ephemeral }, containers, events, nextMs }
}

/** Undefined if nothing changed. */
function statusOf(input: PodInput, memory: PodMemory, statuses: Statuses, fixedPhase?: Phase): PodStatus | undefined {
  const { pod, hostIP, allocateIp, nowMs } = input
  const { status: before = {}, spec } = pod
  const phase = fixedPhase ?? phaseOf(statuses, spec?.restartPolicy ?? 'Always')
  const conditions = conditionsOf({ pod, containers: statuses, phase, nowMs })
  const isUnchanged =
    before.phase === phase &&
    before.conditions === conditions &&
    before.startTime !== undefined &&
    before.hostIP === hostIP &&
    isSameList(before.initContainerStatuses, statuses.init) &&
    isSameList(before.containerStatuses, statuses.regular) &&
    isSameList(before.ephemeralContainerStatuses, statuses.ephemeral)
  if (isUnchanged) return undefined
  const hasStarted = [...statuses.init, ...statuses.regular].some(({ containerID = '' }) => containerID !== '')
  const podIP = before.podIP ?? (hasStarted ? (spec?.hostNetwork === true ? hostIP : allocateIp()) : undefined)
  return {
    ...before,
    phase,
    conditions,
    hostIP,
    ...(podIP === undefined ? {} : { podIP, podIPs: [{ ip: podIP }] }),
    startTime: before.startTime ?? timeOf(memory.startMs),
    ...(statuses.init.length === 0 ? {} : { initContainerStatuses: statuses.init }),
    containerStatuses: statuses.regular,
    ...(statuses.ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: statuses.ephemeral }),
  }
}

const isSameList = (before: readonly ContainerStatus[] | undefined, after: readonly ContainerStatus[]): boolean =>
  (before ?? []).length === after.length && after.every((status, i) => status === before?.[i])

function terminate(input: PodInput, memory: PodMemory): PodOutput {
  const { pod, rules, nowMs } = input
  const { metadata, status, spec } = pod
  const done = { memory, events: [], nextMs: undefined, isStopped: true }
  if (isFinishedPod(pod) || status?.startTime === undefined) return { ...done, status: undefined }
  const endMs = Date.parse(metadata?.deletionTimestamp ?? '')
  const beginMs = endMs - (metadata?.deletionGracePeriodSeconds ?? 0) * 1000
  let nextMs: number | undefined
  const stop = (present: ContainerStatus): ContainerStatus => {
    if (present.state?.terminated !== undefined) return present
    const { name = '', image = '' } = present
    const isInit = spec?.initContainers?.some((container) => container.name === name) === true
    const { stopAfterMs } = behaviourOf(pod, { name, image, isInit }, rules)
    const dueMs = present.state?.running === undefined ? beginMs : Math.min(beginMs + stopAfterMs, endMs)
    if (dueMs <= nowMs) return stopContainer(present, beginMs + stopAfterMs > endMs, nowMs)
    nextMs = earliest(nextMs, dueMs)
    return present
  }
  const before: Statuses = {
    init: status.initContainerStatuses ?? [],
    regular: status.containerStatuses ?? [],
    ephemeral: status.ephemeralContainerStatuses ?? [],
  }
  const statuses = mapStatuses(before, stop)
  const running = [...before.init, ...before.regular].filter(({ state }) => state?.running !== undefined)
  const events = memory.isStopping
    ? []
    : running.map(({ name }): ContainerEvent => ({ type: 'Normal', reason: 'Killing', message: `Stopping container ${name}` }))
  // As in release 1.26: a terminating pod whose containers restart always stays Running.
  const restartPolicy = spec?.restartPolicy === 'OnFailure' ? 'Never' : (spec?.restartPolicy ?? 'Always')
  const ended = phaseOf(statuses, restartPolicy)
  const phase = ended === 'Succeeded' || ended === 'Failed' ? ended : (status.phase as Phase)
  return {
    status: statusOf(input, memory, statuses, phase),
    memory: { ...memory, isStopping: true },
    events,
    nextMs,
    isStopped: nextMs === undefined,
  }
}

const mapStatuses = ({ init, regular, ephemeral }: Statuses, change: (status: ContainerStatus) => ContainerStatus): Statuses => ({
  init: init.map(change),
  regular: regular.map(change),
  ephemeral: ephemeral.map(change),
})
