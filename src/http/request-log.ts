// Requests in the log, as far as the operator wants to see them: those that went wrong or took long, or all.

import type { Logger } from '../base/logger.js'
import type { Exchange } from './exchange.js'
import type { RequestHooks } from './lifecycle.js'

export type LoggedRequests = 'none' | 'conspicuous' | 'all'

/** From here on a request that is no watch took long. */
const longMs = 1_000

export function requestLog(logger: Logger, which: LoggedRequests): RequestHooks {
  if (which === 'none') return {}
  return {
    responseComplete: (exchange) => {
      const tookMs = performance.now() - exchange.begunMs
      if (which === 'all' || isConspicuous(exchange, tookMs)) logger.info(fieldsOf(exchange, tookMs), 'request')
    },
  }
}

const isConspicuous = ({ response, isLongRunning }: Exchange, tookMs: number): boolean =>
  response.statusCode >= 500 || (!isLongRunning && tookMs >= longMs)

/** Neither query nor headers: they may hold what is not for the log. */
const fieldsOf = ({ info, user, response, auditId, remoteAddress, userAgent }: Exchange, tookMs: number) => ({
  verb: info.verb,
  path: info.path,
  code: response.statusCode,
  ms: Math.round(tookMs),
  user: user.name,
  from: remoteAddress,
  agent: userAgent,
  auditId,
})
