// Life of one simulated container: its next state at a point in time, from its status and its behaviour.

import { createHash } from 'node:crypto'
import type { ContainerStatus } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { timeOf } from '@cluster-apiserver/api/schema/scalars.js'
import type { Behaviour } from './behaviour.js'

/** Local state of a container that its status does not contain. Lost at a restart of the server. */
export interface ContainerMemory {
  /** Time of the last start or exit in milliseconds; statuses have whole seconds. */
  atMs?: number
  /** Failed image pulls, and the time of the last one. */
  failedPulls?: number
  pulledAtMs?: number
}

export interface ContainerInput {
  readonly name: string
  readonly image: string
  /** Undefined before the first status. */
  readonly status: ContainerStatus | undefined
  readonly behaviour: Behaviour
  readonly restarts: 'Always' | 'OnFailure' | 'Never'
  /** The time since which the container may start; undefined if others must end first. */
  readonly allowedSinceMs: number | undefined
  /** Reason of `waiting` until then. */
  readonly waitingReason: 'ContainerCreating' | 'PodInitializing'
  readonly memory: ContainerMemory
  /** `<name>_<namespace>(<uid>)`, as in messages of kubelets. */
  readonly podId: string
}

export interface ContainerEvent {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

interface ContainerOutput {
  readonly status: ContainerStatus
  readonly memory: ContainerMemory
  readonly events: readonly ContainerEvent[]
  /** Time of the next change; undefined if none is due. */
  readonly nextMs: number | undefined
}

const firstBackOffMs = 10_000
const maxBackOffMs = 300_000
/** A container that ran for longer restarts without back-off. */
const stableMs = 600_000

/** Delay after failure number `failures`, counted from 1. */
export const backOffMs = (failures: number): number => Math.min(firstBackOffMs * 2 ** (failures - 1), maxBackOffMs)

/** Applies every change that is due at `nowMs`. */
export function liveContainer(input: ContainerInput, nowMs: number): ContainerOutput {
  let output: ContainerOutput = { status: input.status ?? newStatus(input), memory: input.memory, events: [], nextMs: undefined }
  for (;;) {
    const next = step({ ...input, status: output.status, memory: output.memory }, nowMs)
    const isUnchanged = next.status === output.status
    output = { ...next, events: [...output.events, ...next.events] }
    if (isUnchanged) return output
  }
}

type Present = ContainerInput & { readonly status: ContainerStatus }

function step(input: Present, nowMs: number): ContainerOutput {
  const { state } = input.status
  if (state?.running !== undefined) return run(input, nowMs)
  if (state?.terminated !== undefined) return afterExit(input)
  return input.status.lastState?.terminated === undefined ? firstStart(input, nowMs) : restart(input, nowMs)
}

const unchanged = ({ status, memory }: Present, nextMs?: number): ContainerOutput => ({ status, memory, events: [], nextMs })

function firstStart(input: Present, nowMs: number): ContainerOutput {
  const { allowedSinceMs, behaviour } = input
  if (allowedSinceMs === undefined) return waitFor(input, input.waitingReason)
  const dueMs = allowedSinceMs + behaviour.startAfterMs
  if (nowMs < dueMs) return { ...waitFor(input, input.waitingReason), nextMs: dueMs }
  return pull(input, nowMs) ?? start(input, nowMs)
}

/** Undefined if the image is present. */
function pull(input: Present, nowMs: number): ContainerOutput | undefined {
  const { behaviour, memory, image } = input
  const { failedPulls = 0, pulledAtMs = 0 } = memory
  const retryMs = pulledAtMs + (failedPulls === 0 ? 0 : backOffMs(failedPulls))
  const backOff = `Back-off pulling image "${image}"`
  // A kubelet shows the error until its next sync.
  if (failedPulls > 0 && nowMs < pulledAtMs + shownErrorMs) return unchanged(input, pulledAtMs + shownErrorMs)
  if (failedPulls > 0 && nowMs < retryMs) {
    const isNew = input.status.state?.waiting?.reason !== 'ImagePullBackOff'
    const events: readonly ContainerEvent[] = isNew ? [{ type: 'Normal', reason: 'BackOff', message: backOff }] : []
    return { ...waitFor(input, 'ImagePullBackOff', backOff), events, nextMs: retryMs }
  }
  if (failedPulls >= behaviour.failedPulls) return undefined
  const message = `rpc error: code = NotFound desc = failed to pull and unpack image "${image}": not found`
  return {
    ...waitFor({ ...input, memory: { ...memory, failedPulls: failedPulls + 1, pulledAtMs: nowMs } }, 'ErrImagePull', message),
    events: [{ type: 'Warning', reason: 'Failed', message: `Failed to pull image "${image}": ${message}` }],
    nextMs: nowMs + shownErrorMs,
  }
}

const shownErrorMs = 2_000

function start({ status, memory, name, podId }: Present, nowMs: number): ContainerOutput {
  const restartCount = status.restartCount ?? 0
  const { terminated } = status.lastState ?? {}
  return {
    status: {
      ...status,
      state: { running: { startedAt: timeOf(nowMs) } },
      ready: false,
      started: true,
      restartCount: terminated === undefined ? restartCount : restartCount + 1,
      containerID: containerId(podId, name, terminated === undefined ? 0 : restartCount + 1),
      imageID: imageIdOf(status.image ?? ''),
    },
    memory: { ...memory, atMs: nowMs },
    events: [{ type: 'Normal', reason: 'Started', message: `Started container ${name}` }],
    nextMs: undefined,
  }
}

function run(input: Present, nowMs: number): ContainerOutput {
  const { status, behaviour } = input
  const startedMs = exactMs(input.memory, status.state?.running?.startedAt)
  const exitsAgain = (status.restartCount ?? 0) < behaviour.exits
  const exitAfterMs = exitsAgain ? behaviour.exitAfterMs : behaviour.laterExitAfterMs
  const exitMs = exitAfterMs === undefined ? undefined : startedMs + exitAfterMs
  if (exitMs !== undefined && exitMs <= nowMs) return exit(input, exitsAgain ? exitOf(behaviour) : completed, nowMs)
  const { ready, nextMs } = readinessAt(behaviour, startedMs, nowMs)
  const next = earliest(exitMs, nextMs)
  if (ready === (status.ready ?? false)) return unchanged(input, next)
  const events: readonly ContainerEvent[] =
    status.ready === true ? [{ type: 'Warning', reason: 'Unhealthy', message: 'Readiness probe failed: simulated' }] : []
  return { status: { ...status, ready }, memory: input.memory, events, nextMs: next }
}

export function readinessAt(
  { readyAfterMs, flips }: Pick<Behaviour, 'readyAfterMs' | 'flips'>,
  startedMs: number,
  nowMs: number,
): { readonly ready: boolean; readonly nextMs: number | undefined } {
  const readyMs = startedMs + readyAfterMs
  if (nowMs < readyMs) return { ready: false, nextMs: Number.isFinite(readyMs) ? readyMs : undefined }
  if (flips === undefined) return { ready: true, nextMs: undefined }
  const { readyForMs, unreadyForMs } = flips
  const inCycleMs = (nowMs - readyMs) % (readyForMs + unreadyForMs)
  const cycleMs = nowMs - inCycleMs
  return inCycleMs < readyForMs
    ? { ready: true, nextMs: cycleMs + readyForMs }
    : { ready: false, nextMs: cycleMs + readyForMs + unreadyForMs }
}

interface Exit {
  readonly exitCode: number
  readonly reason: string
}

const completed: Exit = { exitCode: 0, reason: 'Completed' }

const exitOf = ({ exitCode, isOomKilled }: Behaviour): Exit => ({
  exitCode,
  reason: isOomKilled ? 'OOMKilled' : exitCode === 0 ? 'Completed' : 'Error',
})

function exit(input: Present, { exitCode, reason }: Exit, nowMs: number): ContainerOutput {
  const { status, memory } = input
  const { containerID = '' } = status
  const startedAt = status.state?.running?.startedAt ?? timeOf(nowMs)
  return {
    status: {
      ...status,
      state: { terminated: { exitCode, reason, startedAt, finishedAt: timeOf(nowMs), containerID } },
      ready: false,
      started: false,
    },
    memory: { ...memory, atMs: nowMs },
    events: [],
    nextMs: undefined,
  }
}

function afterExit(input: Present): ContainerOutput {
  const { status, restarts } = input
  const { terminated } = status.state ?? {}
  if (restarts === 'Never' || (restarts === 'OnFailure' && (terminated?.exitCode ?? 0) === 0)) return unchanged(input)
  const { waiting, events } = backOff(input)
  // A first exit is followed by a restart at once: the state between them is not written.
  return { status: { ...status, lastState: status.state ?? {}, state: { waiting } }, memory: input.memory, events, nextMs: undefined }
}

function backOff({ status, name, podId }: Present) {
  const delayMs = restartDelayMs(status, status.state?.terminated)
  const message = `back-off ${delayText(delayMs)} restarting failed container=${name} pod=${podId}`
  const event: ContainerEvent = {
    type: 'Warning',
    reason: 'BackOff',
    message: `Back-off restarting failed container ${name} in pod ${podId}`,
  }
  return { waiting: { reason: 'CrashLoopBackOff', message }, events: delayMs > 0 ? [event] : [] }
}

type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

function restartDelayMs({ restartCount = 0 }: ContainerStatus, terminated: Terminated | undefined): number {
  const ranMs = Date.parse(terminated?.finishedAt ?? '') - Date.parse(terminated?.startedAt ?? '')
  return restartCount === 0 || ranMs > stableMs ? 0 : backOffMs(restartCount)
}

const delayText = (ms: number): string => (ms < 60_000 ? `${ms / 1000}s` : `${Math.floor(ms / 60_000)}m${(ms % 60_000) / 1000}s`)

function restart(input: Present, nowMs: number): ContainerOutput {
  const { status } = input
  const { terminated } = status.lastState ?? {}
  const dueMs = exactMs(input.memory, terminated?.finishedAt) + restartDelayMs(status, terminated)
  return nowMs < dueMs ? unchanged(input, dueMs) : start(input, nowMs)
}

function waitFor({ status, memory }: Present, reason: string, message?: string): ContainerOutput {
  const { waiting } = status.state ?? {}
  const isSame = waiting?.reason === reason && waiting.message === message
  const state = { waiting: { reason, ...(message === undefined ? {} : { message }) } }
  return { status: isSame ? status : { ...status, state }, memory, events: [], nextMs: undefined }
}

/** Stops a container that runs; `isKilled`: by SIGKILL. One that never started ends as a kubelet reports it. */
export function stopContainer(status: ContainerStatus, isKilled: boolean, nowMs: number): ContainerStatus {
  const { state, containerID = '' } = status
  if (state?.terminated !== undefined) return status
  const startedAt = state?.running?.startedAt
  const times = startedAt === undefined ? {} : { startedAt, finishedAt: timeOf(nowMs), containerID }
  const terminated =
    startedAt === undefined && status.lastState?.terminated !== undefined
      ? status.lastState.terminated
      : { exitCode: isKilled || startedAt === undefined ? 137 : 0, reason: exitReason(startedAt, isKilled), ...times }
  return { ...status, state: { terminated }, lastState: {}, ready: false, started: false }
}

const exitReason = (startedAt: string | undefined, isKilled: boolean): string =>
  startedAt === undefined ? 'ContainerStatusUnknown' : isKilled ? 'Error' : 'Completed'

const newStatus = ({ name, image, waitingReason }: ContainerInput): ContainerStatus => ({
  name,
  state: { waiting: { reason: waitingReason } },
  lastState: {},
  ready: false,
  restartCount: 0,
  image,
  imageID: '',
  started: false,
})

/** The exact time of a text in whole seconds, if it is the remembered one. */
export function exactMs({ atMs }: ContainerMemory, text: string | undefined): number {
  return atMs !== undefined && timeOf(atMs) === text ? atMs : Date.parse(text ?? '') || 0
}

export const earliest = (...times: readonly (number | undefined)[]): number | undefined =>
  times.reduce((first, time) => (first === undefined || (time !== undefined && time < first) ? time : first), undefined)

/** 64 hexadecimal digits that look like an id and are stable. */
const containerId = (podId: string, name: string, run: number): string => `simulated://${digest(`${podId}/${name}/${run}`)}`
const imageIdOf = (image: string): string => `simulated://sha256:${digest(image)}`
const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
