// The filter in which a caller becomes whom its headers name, if it may: everything behind it sees that user alone.

import { type AccessAttributes, type Authorizer, authorizeWith, type Decision, refusal } from '../auth/authorize.js'
import { type Impersonation, impersonationOf } from '../auth/impersonate.js'
import type { Exchange } from './exchange.js'
import type { Answered, Filter } from './pipeline.js'

export function impersonation(authorizers: readonly Authorizer[]): Filter {
  return (exchange) => {
    if (!isAsked(exchange)) return false
    const wanted = impersonationOf(exchange.request.rawHeaders, exchange.catalog.identity)
    return wanted === undefined ? false : impersonate(exchange, authorizers, wanted)
  }
}

function isAsked({ headers }: Exchange): boolean {
  for (const name in headers) if (name.startsWith('impersonate-')) return true
  return false
}

/** Each right is asked for by itself; synchronous as long as those who are asked are. */
function impersonate(
  exchange: Exchange,
  authorizers: readonly Authorizer[],
  wanted: Impersonation,
  from = 0,
): Answered | Promise<Answered> {
  for (let i = from; i < wanted.rights.length; i++) {
    const info = wanted.rights[i] as AccessAttributes
    const decision = authorizeWith(authorizers, { user: exchange.user, info })
    if (decision instanceof Promise)
      return decision.then((decided) => {
        check(exchange, info, decided)
        return impersonate(exchange, authorizers, wanted, i + 1)
      })
    check(exchange, info, decision)
  }
  exchange.originalUser = exchange.user
  exchange.user = wanted.user
  return false
}

/** Somebody who could not be asked has not allowed it. */
function check({ user }: Exchange, info: AccessAttributes, decision: Decision): void {
  if (decision.verdict !== 'allow') throw refusal({ user, info }, decision)
}
