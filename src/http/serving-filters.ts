// The first filters, each of which is in the list only when the operator asked for it: a header for browsers, and a word to
// clients while the server shuts down.

import type { Exchange } from './exchange.js'
import type { Filter } from './pipeline.js'
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

const isProbe = ({ info }: Exchange): boolean => ['/livez', '/readyz', '/healthz'].some((path) => info.path.startsWith(path))
