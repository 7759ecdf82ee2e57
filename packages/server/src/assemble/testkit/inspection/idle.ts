// Waits until a server is idle: controllers have nothing queued, no request is in progress, and watchers were sent everything.

import { setTimeout } from 'node:timers/promises'
import { listSome, shorten } from '@cluster-apiserver/api/base/shorten.js'
import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import type { Exchange } from '../../../http/pipeline/exchange.js'
import { connectionOf } from '../../../http/responses/send-response.js'
import type { Engine } from '../../../verbs/engine.js'
import { type ControllerActivity, waitUntilIdle } from '../../embedding/until-idle.js'
import { type Duration, readDurationMs } from '../duration.js'
import type { RecordedRequest } from './recorded-request.js'
import type { RequestLog } from './request-log.js'

export interface IdleOptions {
  /** Milliseconds, or text such as `30s`. Default: 10 s. */
  readonly timeout?: Duration
}

export interface IdleParts {
  readonly engine: Engine
  readonly controllers: ControllerActivity
}

const defaultTimeoutMs = 10_000
const pollMs = 2
const maxShownKeys = 5

/** Rejects after the timeout with a list of what is busy. */
export async function waitForIdle(parts: IdleParts, requests: RequestLog, options: IdleOptions = {}): Promise<void> {
  refuseUnknownOptions('idle', options, { timeout: true })
  const timeoutMs = readDurationMs(options.timeout ?? defaultTimeoutMs)
  const untilMs = performance.now() + timeoutMs
  for (;;) {
    await waitUntilIdle(parts, Math.max(0, untilMs - performance.now()))
    const busy = busyParts(parts, requests)
    if (busy.length === 0) return
    if (performance.now() >= untilMs)
      throw new Error(`idle: after ${timeoutMs} ms the server is still busy:\n${busy.map((line) => `- ${line}`).join('\n')}`)
    await setTimeout(pollMs)
  }
}

function busyParts({ controllers, engine: { store } }: IdleParts, requests: RequestLog): readonly string[] {
  const busyControllers = controllers.busy().map(({ name, keys }) => {
    const shown = keys.slice(0, maxShownKeys).map((key) => shorten(key))
    return `controller ${name}: ${keys.length === 0 ? 'lists its objects' : listSome(shown, keys.length - shown.length)}`
  })
  if (busyControllers.length === 0 && !controllers.isIdle()) busyControllers.push('controllers: they have not started')
  const open = [...requests.open].flatMap(([exchange, request]) => busyRequest(exchange, request) ?? [])
  const { backlog, notifiedUpTo, revision } = store
  const waiting = backlog.replaying + backlog.slowWatcherCount + backlog.stalledCount
  const isNotified = notifiedUpTo !== undefined && notifiedUpTo >= revision
  const watches = open.length > 0 || (isNotified && waiting === 0) ? [] : ['watches: not all events are sent']
  return [...busyControllers, ...open, ...watches]
}

/** Undefined for a stream whose connection has taken everything. */
function busyRequest(exchange: Exchange, request: RecordedRequest): string | undefined {
  const { path, query, verb } = request
  const user = request.user || exchange.user.name
  const shown = `${verb} of ${user}: ${shorten(query === '' ? path : `${path}?${query}`)}`
  if (!request.isOpen) return `request in progress: ${shown}`
  const unsentBytes = connectionOf(exchange)?.unsentBytes() ?? 0
  return unsentBytes === 0 ? undefined : `${shown}: its client has not read ${unsentBytes} bytes`
}
