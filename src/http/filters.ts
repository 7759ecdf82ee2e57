// The filters of the pipeline, each one step of a request's way in.

import { ApiError, unauthorized } from '../api/api-error.js'
import type { User } from '../api/user.js'
import { type Authenticator, authenticateWith } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, type Decision, refusal } from '../auth/authorize.js'
import type { Exchange } from './exchange.js'
import type { Filter } from './pipeline.js'
import { OverloadedError, type Pressure } from './pressure.js'

export interface Limits {
  readonly maxReadOnly: number
  readonly maxMutating: number
  readonly pressure: Pick<Pressure, 'isFull'>
}

const readOnlyVerbs = new Set(['get', 'list', 'watch', 'head', 'options'])

/** How many requests are being answered; more than allowed are sent away with a word when to come again. */
export class Inflight {
  readOnly = 0
  mutating = 0
  private readonly limits: Limits
  constructor(limits: Limits) {
    this.limits = limits
  }

  readonly filter: Filter = (exchange) => {
    if (exchange.info.verb === 'watch' || isProbe(exchange)) return false
    const isReadOnly = readOnlyVerbs.has(exchange.info.verb)
    const isOver = isReadOnly ? this.readOnly >= this.limits.maxReadOnly : this.mutating >= this.limits.maxMutating
    if (isOver || this.limits.pressure.isFull) throw new OverloadedError()
    if (isReadOnly) this.readOnly++
    else this.mutating++
    exchange.counted = isReadOnly ? 'readOnly' : 'mutating'
    return false
  }

  /** The exchange is over. */
  leave(exchange: Exchange): void {
    if (exchange.counted !== undefined) this[exchange.counted]--
    exchange.counted = undefined
    exchange.releaseBody()
  }
}

/** Whoever asks whether the server lives is answered also when there is no room: a busy server must not be taken for a dead one. */
const isProbe = ({ info }: Exchange): boolean => !info.isResource && /^\/(?:livez|readyz|healthz)(?:\/|$)/.test(info.path)

export interface Authentication {
  readonly authenticators: readonly Authenticator[]
  /** Whom a request without any credential is; undefined: nobody, and it is refused. */
  readonly anonymous: User | undefined
}

export function authentication({ authenticators, anonymous }: Authentication): Filter {
  const finish = (exchange: Exchange, user: User | undefined): boolean => {
    if (user !== undefined) exchange.user = user
    else if (anonymous !== undefined && exchange.bearerToken === '') exchange.user = anonymous
    else throw unauthorized()
    return false
  }
  return (exchange) => {
    const found = authenticateWith(authenticators, exchange)
    if (found instanceof Promise) return found.then((user) => finish(exchange, user))
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
