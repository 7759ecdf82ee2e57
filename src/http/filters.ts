// The filters of the pipeline, each one step of a request's way in.

import { unauthorized } from '../api/api-error.js'
import type { User } from '../api/user.js'
import { type Authenticator, authenticateWith, type Found } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, type Decision, refusal } from '../auth/authorize.js'
import type { AttemptResult, AuthenticationTallies } from '../auth/tallies.js'
import { setOwner } from '../net/fair-turns.js'
import type { Exchange } from './exchange.js'
import type { Answered, Filter } from './pipeline.js'
import { sendPlain } from './respond.js'

export interface Authentication {
  readonly authenticators: readonly Authenticator[]
  /** Whom a request without any credential is; undefined: nobody, and it is refused. */
  readonly anonymous: User | undefined
  readonly tallies?: AuthenticationTallies | undefined
}

/** Whose connections those are on which somebody was refused: they must not wait with those of whom nothing is known yet. */
const nobody = 'system:unauthenticated'

export function authentication({ authenticators, anonymous, tallies }: Authentication): Filter {
  const finish = (exchange: Exchange, found: Found): boolean => {
    const user = found === undefined ? anonymous : found.user
    tallies?.count(resultOf(found, user), performance.now() - exchange.begunMs, user?.name ?? '')
    const { connection } = exchange
    if (connection !== undefined) setOwner(connection, user?.name ?? nobody)
    if (user === undefined) throw unauthorized()
    exchange.user = user
    if (found?.user !== undefined) found.remark?.(exchange.annotate, exchange.now)
    exchange.lifecycle.tell('authenticated', exchange)
    return false
  }
  return (exchange) => {
    const found = authenticateWith(authenticators, exchange)
    if (found instanceof Promise) return found.then((late) => finish(exchange, late))
    return finish(exchange, found)
  }
}

/** Whoever shows a credential that is no good is an error; whoever shows none, and may not do so, is just nobody. */
const resultOf = (found: Found, user: User | undefined): AttemptResult =>
  user !== undefined ? 'success' : found === undefined ? 'failure' : 'error'

/** Whether the user may. Where that could not be found out, it is no refusal: nobody knows. */
export function authorization(authorizers: readonly Authorizer[]): Filter {
  const finish = (exchange: Exchange, decision: Decision): Answered => {
    exchange.decision = decision
    if (decision.verdict === 'allow') return false
    if (decision.error === undefined) throw refusal(exchange, decision)
    sendPlain(exchange, 500, `Internal Server Error: ${JSON.stringify(exchange.request.url)}: ${decision.error}\n`)
    return true
  }
  return (exchange) => {
    const decision = authorizeWith(authorizers, exchange)
    return decision instanceof Promise ? decision.then((decided) => finish(exchange, decided)) : finish(exchange, decision)
  }
}
