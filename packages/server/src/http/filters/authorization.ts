// Filters that call the authorizers: authorization responds with 403 if no authorizer allows the request; impersonation replaces the user
// by the one in the Impersonate-* headers, if the user may impersonate it.

import { type Authorizer, authorizeWith, forbiddenError } from '../../auth/authorize.js'
import { readImpersonation } from '../../auth/impersonation.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Filter, Handled } from '../pipeline/filter.js'
import { sendPlain } from '../responses/send-response.js'

/** Responds with 500 if an authorizer failed and none decided. */
export function authorization(authorizers: readonly Authorizer[]): Filter {
  return async (exchange) => {
    const decision = await authorizeWith(authorizers, exchange)
    exchange.decision = decision
    if (decision.verdict === 'allow') return false
    if (decision.error === undefined) throw forbiddenError(exchange, decision)
    sendPlain(exchange, 500, `Internal Server Error: ${JSON.stringify(exchange.request.url)}: ${decision.error}\n`)
    return true
  }
}

export function impersonation(authorizers: readonly Authorizer[]): Filter {
  return (exchange) => hasImpersonationHeader(exchange) && impersonate(exchange, authorizers)
}

async function impersonate(exchange: Exchange, authorizers: readonly Authorizer[]): Promise<Handled> {
  const impersonated = readImpersonation(exchange.request.rawHeaders, exchange.catalog.identity)
  if (impersonated === undefined) return false
  const { user } = exchange
  for (const info of impersonated.permissions) {
    const decision = await authorizeWith(authorizers, { user, info })
    if (decision.verdict !== 'allow') throw forbiddenError({ user, info }, decision)
  }
  exchange.originalUser = user
  exchange.user = impersonated.user
  return false
}

function hasImpersonationHeader({ headers }: Exchange): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}
