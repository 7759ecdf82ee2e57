// The filters of the pipeline, each one step of a request's way in.

import { ApiError, unauthorized } from '../api/api-error.js'
import type { User } from '../api/user.js'
import { type Authenticator, authenticateWith, type Found } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, type Decision, refusal } from '../auth/authorize.js'
import type { Exchange } from './exchange.js'
import type { Filter } from './pipeline.js'

export interface Authentication {
  readonly authenticators: readonly Authenticator[]
  /** Whom a request without any credential is; undefined: nobody, and it is refused. */
  readonly anonymous: User | undefined
}

export function authentication({ authenticators, anonymous }: Authentication): Filter {
  const finish = (exchange: Exchange, found: Found): boolean => {
    if (found?.user !== undefined) {
      exchange.user = found.user
      found.remark?.(exchange.annotate, exchange.now)
    } else if (found === undefined && anonymous !== undefined) exchange.user = anonymous
    else throw unauthorized()
    exchange.lifecycle.tell('authenticated', exchange)
    return false
  }
  return (exchange) => {
    const found = authenticateWith(authenticators, exchange)
    if (found instanceof Promise) return found.then((late) => finish(exchange, late))
    return finish(exchange, found)
  }
}

/** Nobody acts as somebody else here yet, and whoever asks for fewer rights must not be given all of their own. */
export const noImpersonation: Filter = ({ headers, user }) => {
  for (const name in headers) if (name.startsWith('impersonate-')) throw noActing(user)
  return false
}

function noActing({ name }: User): ApiError {
  const message = `users is forbidden: User ${JSON.stringify(name)} cannot impersonate: this server does not act for other users yet`
  return new ApiError({ code: 403, reason: 'Forbidden', message, details: { kind: 'users' } })
}

export function authorization(authorizers: readonly Authorizer[]): Filter {
  const finish = (exchange: Exchange, decision: Decision): boolean => {
    if (decision.verdict !== 'allow') throw refusal(exchange, decision)
    return false
  }
  return (exchange) => {
    const decision = authorizeWith(authorizers, exchange)
    return decision instanceof Promise ? decision.then((decided) => finish(exchange, decided)) : finish(exchange, decision)
  }
}
