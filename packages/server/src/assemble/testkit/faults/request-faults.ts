// Faults of requests: filters, hooks and watches that carry out what the fault rules decide.

import { createHash } from 'node:crypto'
import { ApiError, unauthorized } from '@cluster-apiserver/api/api/api-error.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Exchange } from '../../../http/pipeline/exchange.js'
import type { Filter, Handled } from '../../../http/pipeline/filter.js'
import type { RequestHooks } from '../../../http/pipeline/lifecycle.js'
import type { RequestInterception } from '../../../http/rest/target.js'
import type { WatchSource } from '../../../http/watch/watch-stream.js'
import type { FaultError, WatchAction } from './fault-rule.js'
import type { ChosenFault, Decision, FaultRules, TokenRequest } from './fault-rules.js'
import { FaultyWatch } from './faulty-watch.js'
import type { Firing } from './match-counter.js'

interface ChosenWatchFault {
  readonly action: WatchAction
  readonly firing: Firing
}

export class RequestFaults implements RequestInterception {
  readonly #rules: FaultRules
  readonly #cutWithResponse = new WeakMap<Exchange, Firing>()
  readonly #watches = new WeakMap<Exchange, ChosenWatchFault>()
  readonly #waiting = new Set<() => void>()
  #isClosed = false

  constructor(rules: FaultRules) {
    this.#rules = rules
  }

  /** Runs before authentication, so that an authenticator cannot accept the token first. */
  readonly refuseExpiredTokens: Filter = (exchange) => {
    if (!this.#rules.hasExpiredTokens || exchange.bearerToken === '') return false
    if (this.#rules.refusesToken(digestOf(exchange.bearerToken))) throw unauthorized()
    return false
  }

  readonly filter: Filter = (exchange) => {
    if (this.#rules.isEmpty || this.#decidesOnCreate(exchange)) return false
    return this.#apply(exchange, exchange.info.name)
  }

  readonly onCreate = async (exchange: Exchange, name: string): Promise<Handled> =>
    this.#decidesOnCreate(exchange) ? this.#apply(exchange, name) : false

  readonly wrapWatch = (exchange: Exchange, watch: WatchSource): WatchSource => {
    const chosen = this.#watches.get(exchange)
    return chosen === undefined ? watch : new FaultyWatch({ ...chosen, watch, cut: () => cutAfterSent(exchange) })
  }

  readonly hooks: RequestHooks = {
    responseStarted: (exchange) => {
      const firing = this.#cutWithResponse.get(exchange)
      if (firing === undefined) return
      firing.fire()
      exchange.cut()
    },
  }

  /** Ends all latencies: the server shuts down. */
  close(): void {
    this.#isClosed = true
    for (const wake of this.#waiting) wake()
  }

  /** The body of a create request has the name; extension API servers decode their bodies themselves. */
  #decidesOnCreate({ info, catalog }: Exchange): boolean {
    if (!this.#rules.needsNames || info.verb !== 'create' || info.name !== '') return false
    return catalog.find(info.group, info.version, info.resource) !== undefined
  }

  async #apply(exchange: Exchange, name: string): Promise<Handled> {
    const { latencies, fault } = this.#rules.decide(requestOf(exchange, name))
    try {
      await this.#wait(exchange, latencies)
      return fault !== undefined && this.#inject(exchange, fault)
    } catch (thrown) {
      fault?.firing.release()
      throw thrown
    }
  }

  #inject(exchange: Exchange, { action, firing, expireToken }: ChosenFault): Handled {
    switch (action.kind) {
      case 'error':
        firing.fire()
        throw apiErrorOf(action.error)
      case 'expireToken':
        firing.fire()
        expireToken(digestOf(exchange.bearerToken))
        throw unauthorized()
      case 'cut':
        if (action.isAfterCommit) {
          this.#cutWithResponse.set(exchange, firing)
          exchange.onClose(() => firing.release())
          return false
        }
        firing.fire()
        exchange.cut()
        return true
      case 'watch':
        this.#watches.set(exchange, { action, firing })
        exchange.onClose(() => firing.release())
        return false
    }
  }

  async #wait(exchange: Exchange, latencies: Decision['latencies']): Promise<void> {
    if (latencies.length === 0) return
    let totalMs = 0
    for (const { ms, firing } of latencies) {
      totalMs += ms
      firing.fire()
    }
    if (!this.#isClosed) await this.#sleep(exchange, totalMs)
    exchange.throwIfAborted()
  }

  /** Ends early if the request times out, the client disconnects or the server shuts down. */
  #sleep(exchange: Exchange, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        stopListening()
        resolve()
      }
      const timer = setTimeout(() => wake(), timerMs(ms)).unref()
      this.#waiting.add(wake)
      const stopListening = exchange.onAbort(() => queueMicrotask(wake))
    })
  }
}

function requestOf({ info, user, originalUser, bearerToken, catalog }: Exchange, name: string): TokenRequest {
  const { isResource, verb, group, resource, subresource, namespace } = info
  const definition = subresource === '' ? undefined : catalog.find(group, info.version, resource)?.subresources.get(subresource)
  return {
    isResource,
    verb,
    isConnect: definition?.connection !== undefined,
    group,
    resource,
    subresource,
    namespace,
    name,
    user: user.name,
    tokenUser: bearerToken === '' ? undefined : (originalUser ?? user).name,
  }
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('base64')

const reasons: { readonly [code: number]: string } = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Expired',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}

function apiErrorOf({ code, reason = reasons[code], message = 'a fault rule of the test kit', retryAfterSeconds }: FaultError): ApiError {
  return new ApiError({
    code,
    ...(reason === undefined ? {} : { reason }),
    message,
    ...(retryAfterSeconds === undefined ? {} : { details: { retryAfterSeconds } }),
  })
}

/** Closes the connection after all written bytes are sent; `exchange.cut` may discard some. */
function cutAfterSent(exchange: Exchange): void {
  const { request, response } = exchange
  exchange.isCut = true
  if ('assignSocket' in response) request.socket.destroySoon()
  else response.stream.write('', () => exchange.cut())
}
