// The filters of the pipeline, each one step of a request's way in.

import { ApiError, unauthorized } from '../api/api-error.js'
import type { User } from '../api/user.js'
import { type Authenticator, authenticateWith } from '../auth/authenticate.js'
import { type Authorizer, authorizeWith, refusal } from '../auth/authorize.js'
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
  const finish = (exchange: Exchange, user: User | undefined, hasCredential: boolean): boolean => {
    if (user !== undefined) exchange.user = user
    else if (anonymous !== undefined && !hasCredential) exchange.user = anonymous
    else throw unauthorized()
    return false
  }
  return (exchange) => {
    const bearerToken = bearerOf(exchange.request.headers.authorization)
    const found = authenticateWith(authenticators, { bearerToken })
    if (found instanceof Promise) return found.then((user) => finish(exchange, user, bearerToken !== ''))
    return finish(exchange, found, bearerToken !== '')
  }
}

function bearerOf(header: string | undefined): string {
  if (header === undefined) return ''
  const match = /^\s*bearer\s+(\S+)/i.exec(header)
  return match?.[1] ?? ''
}

/** Nobody acts as somebody else here yet, and whoever asks for fewer rights must not be given all of their own. */
export const noImpersonation: Filter = ({ request: { headers }, user }) => {
  if (headers['impersonate-user'] === undefined && headers['impersonate-group'] === undefined && headers['impersonate-uid'] === undefined)
    return false
  const message = `users is forbidden: User ${JSON.stringify(user.name)} cannot impersonate: this server does not act for other users yet`
  throw new ApiError({ code: 403, reason: 'Forbidden', message, details: { kind: 'users' } })
}

export function authorization(authorizers: readonly Authorizer[]): Filter {
  return (exchange) => {
    const decision = authorizeWith(authorizers, exchange.user, exchange.info)
    if (decision === 'allow') return false
    if (!(decision instanceof Promise)) throw refusal(exchange.user, exchange.info)
    return decision.then((decided) => {
      if (decided !== 'allow') throw refusal(exchange.user, exchange.info)
      return false
    })
  }
}
