// Logs of simulated containers: lines of their rules, or of their lifecycle. Computed from the pod, so any replica can serve them.

import { badRequest } from '@cluster-apiserver/api/api/api-error.js'
import type { ContainerStatus, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { ControllerParts } from '../../framework/controller.js'
import { readObject } from '../kit/workload-parts.js'
import { behaviourOf, type Rule } from './behaviour.js'

interface LogLine {
  /** Time in whole seconds. */
  readonly time: string
  readonly text: string
}

interface LogRequest {
  readonly namespace: string
  readonly name: string
  readonly container: string
  readonly query: URLSearchParams
}

interface Run {
  readonly containerId: string
  readonly lines: readonly LogLine[]
  readonly hasEnded: boolean
}

/** `rulesOf`: rules of the file and of the pod. */
function runOf(pod: Pod, container: string, isPrevious: boolean, rulesOf: (pod: Pod) => readonly Rule[]): Run {
  const { status, metadata } = pod
  const find = (statuses: readonly ContainerStatus[] | undefined) => statuses?.find(({ name }) => name === container)
  const init = find(status?.initContainerStatuses)
  const found = init ?? find(status?.containerStatuses) ?? find(status?.ephemeralContainerStatuses)
  const { running, terminated } = isPrevious ? { running: undefined, terminated: found?.lastState?.terminated } : currentRun(found)
  if (isPrevious && terminated === undefined)
    throw badRequest(`previous terminated container "${container}" in pod "${metadata?.name}" not found`)
  if (running === undefined && terminated === undefined)
    throw badRequest(
      `container "${container}" in pod "${metadata?.name}" is waiting to start: ${found?.state?.waiting?.reason ?? 'ContainerCreating'}`,
    )
  const startedAt = running?.startedAt ?? terminated?.startedAt ?? ''
  const { log } = behaviourOf(pod, { name: container, image: found?.image ?? '', isInit: init !== undefined }, rulesOf(pod))
  const lines = (log.length === 0 ? [`container ${container} started`] : log).map((text) => ({ time: startedAt, text }))
  if (terminated !== undefined)
    lines.push({
      time: terminated.finishedAt ?? '',
      text: `container ${container} exited with code ${terminated.exitCode ?? 0} (${terminated.reason})`,
    })
  return { containerId: found?.containerID ?? '', lines, hasEnded: terminated !== undefined }
}

/** A container that waits for its restart shows the run before. */
function currentRun(status: ContainerStatus | undefined): NonNullable<ContainerStatus['state']> {
  const { state = {}, lastState = {} } = status ?? {}
  return state.running === undefined && state.terminated === undefined ? { terminated: lastState.terminated as never } : state
}

/** Lines that the options `sinceTime`, `sinceSeconds` and `tailLines` select. */
function selectLines(lines: readonly LogLine[], query: URLSearchParams, nowMs: number): readonly LogLine[] {
  const sinceSeconds = query.get('sinceSeconds')
  const sinceMs = sinceSeconds === null ? Date.parse(query.get('sinceTime') ?? '') : nowMs - Number(sinceSeconds) * 1000
  const recent = Number.isNaN(sinceMs) ? lines : lines.filter(({ time }) => Date.parse(time) >= sinceMs)
  const tail = query.get('tailLines')
  return tail === null ? recent : recent.slice(Math.max(0, recent.length - Number(tail)))
}

/** Text of the log, in chunks; with `follow` until the container ends or the pod is deleted. Throws before the first chunk. */
export function openLog(
  parts: ControllerParts,
  request: LogRequest,
  rulesOf: (pod: Pod) => readonly Rule[],
  signal: AbortSignal,
): AsyncIterable<string> {
  const { engine, catalogs } = parts
  const { namespace, name, container, query } = request
  const resource = catalogs.current.find('', 'v1', 'pods')
  const read = (): Pod | undefined => (resource === undefined ? undefined : readObject<Pod>(parts, { resource, namespace, name }))
  const pod = read()
  if (resource === undefined || pod === undefined) throw badRequest(`pod "${name}" not found`)
  const first = runOf(pod, container, query.get('previous') === 'true', rulesOf)
  const limit = new ByteLimit(query.get('limitBytes'))
  const hasTimes = query.get('timestamps') === 'true'
  const textOf = (lines: readonly LogLine[]): string =>
    limit.cut(lines.map(({ time, text }) => `${hasTimes ? `${time} ` : ''}${text}\n`).join(''))
  return (async function* () {
    yield textOf(selectLines(first.lines, query, engine.clock.now()))
    if (query.get('follow') !== 'true' || first.hasEnded) return
    let wake = (): void => undefined
    const unwatch = engine.store.watch({
      resource,
      namespace,
      matches: (object) => object.key.endsWith(`/${name}`),
      deliver: () => wake(),
    })
    signal.addEventListener('abort', () => wake())
    try {
      for (let shown = first.lines.length; !signal.aborted && !limit.isReached; ) {
        const current = read()
        if (current?.metadata?.uid !== pod.metadata?.uid || current === undefined) return
        const run = runOf(current, container, false, rulesOf)
        const isSame = run.containerId === first.containerId
        // A restarted container: the end of the run before is in its last state.
        const { lines, hasEnded } = isSame ? run : runOf(current, container, true, rulesOf)
        if (lines.length > shown) yield textOf(lines.slice(shown))
        shown = Math.max(shown, lines.length)
        if (hasEnded) return
        await new Promise<void>((resolve) => {
          wake = resolve
          if (signal.aborted) resolve()
        })
      }
    } finally {
      unwatch()
    }
  })()
}

class ByteLimit {
  #left: number

  constructor(limit: string | null) {
    this.#left = limit === null ? Number.POSITIVE_INFINITY : Number(limit)
  }

  get isReached(): boolean {
    return this.#left <= 0
  }

  cut(text: string): string {
    const bytes = Buffer.from(text)
    const kept = bytes.length <= this.#left ? text : bytes.subarray(0, this.#left).toString()
    this.#left -= bytes.length
    return kept
  }
}
