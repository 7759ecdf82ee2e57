// The filter of a graceful shutdown: refuses new requests, except health probes, with 429 while open requests end.

import { isProbe } from '../../flow-control/request.js'
import type { Filter } from '../pipeline/filter.js'
import { sendPlain } from '../responses/send-response.js'

const retryAfterSeconds = 5

export const retryAfterShutdown =
  (isShuttingDown: () => boolean): Filter =>
  (exchange) => {
    if (!isShuttingDown() || isProbe(exchange)) return false
    sendPlain(exchange, 429, 'The apiserver is shutting down, please try again later.\n', {
      'Retry-After': String(retryAfterSeconds),
      // HTTP/2 sessions get a GOAWAY frame instead.
      ...('assignSocket' in exchange.response ? { Connection: 'close' } : {}),
    })
    return true
  }
