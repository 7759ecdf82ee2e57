// The first filters: how long the client waits, and, where the operator asked for them, a header for browsers and a word to clients
// while the server shuts down.

import { requestTimeout } from '../api/options/request-timeout.js'
import type { Filter } from './pipeline.js'
import { isLongRunning, isProbe } from './priority.js'
import { sendPlain } from './respond.js'

/** Tells browsers to come by TLS only. `value`: the directives, joined. */
export const strictTransport =
  (value: string): Filter =>
  ({ response }) => {
    response.setHeader('Strict-Transport-Security', value)
    return false
  }

const retrySeconds = 5

/** While the server shuts down, new requests are sent to another one; probes and what is under way are answered. */
export const retryAfterShutdown =
  (isShuttingDown: () => boolean): Filter =>
  (exchange) => {
    if (!isShuttingDown() || isProbe(exchange)) return false
    sendPlain(exchange, 429, 'The apiserver is shutting down, please try again later.\n', {
      'Retry-After': String(retrySeconds),
      // HTTP/2 connections are told with GOAWAY.
      ...('assignSocket' in exchange.response ? { Connection: 'close' } : {}),
    })
    return true
  }

/** A client may say how long it waits: less than the server allows is kept to, and what cannot be read is refused before anybody is asked who they are. */
export const clientTimeout: Filter = (exchange) => {
  const { info } = exchange
  if (info.query === '' || isLongRunning(info)) return false
  const timeoutMs = requestTimeout(info.query)
  if (timeoutMs === undefined) return false
  if (timeoutMs <= performance.now() - exchange.begunMs) throw exchange.timeOut()
  exchange.timeoutMs = timeoutMs
  return false
}
