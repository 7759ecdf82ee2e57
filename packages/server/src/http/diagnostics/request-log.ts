// Logs requests: none, all, or the failed (5xx) and slow ones.

import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { RequestHooks } from '../pipeline/lifecycle.js'

export type LoggedRequests = 'none' | 'conspicuous' | 'all'

/** Duration from which a request counts as slow, unless it is long-running, such as a watch. */
const slowMs = 1_000

export function requestLog(logger: Logger, logged: LoggedRequests): RequestHooks {
  if (logged === 'none') return {}
  return {
    responseComplete: (exchange) => {
      const tookMs = performance.now() - exchange.begunMs
      if (logged === 'all' || isConspicuous(exchange, tookMs)) logger.info(fieldsOf(exchange, tookMs), 'request')
    },
  }
}

const isConspicuous = ({ response, isLongRunning }: Exchange, tookMs: number): boolean =>
  response.statusCode >= 500 || (!isLongRunning && tookMs >= slowMs)

/** Neither query nor headers: they may contain secrets. */
const fieldsOf = ({ info, user, response, auditId, remoteAddress, userAgent }: Exchange, tookMs: number) => ({
  verb: info.verb,
  path: info.path,
  code: response.statusCode,
  durationMs: Math.round(tookMs),
  user: user.name,
  remoteAddress,
  userAgent,
  auditId,
})
