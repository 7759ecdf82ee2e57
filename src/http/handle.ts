// From a request on the wire to an answer: the pipeline is walked, and whatever is thrown on the way leaves through one door.

import { ApiError } from '../api/api-error.js'
import type { CatalogSource } from '../api/catalog-source.js'
import { scanQuery } from '../api/options/query.js'
import { parseRequest } from '../api/request-info.js'
import { type Clock, timerMs } from '../base/clock.js'
import { negotiateError } from '../codec/negotiation.js'
import { newAuditId } from './audit-ids.js'
import { Exchange, type WireRequest, type WireResponse } from './exchange.js'
import { Lifecycle, type RequestHooks } from './lifecycle.js'
import type { Answered, Filter } from './pipeline.js'
import { walk } from './pipeline.js'
import { OverloadedError, type Pressure } from './pressure.js'
import { representDocument } from './represent.js'
import { send, sendPlain } from './respond.js'
import { failure } from './status.js'

export interface Handling {
  readonly filters: readonly Filter[]
  readonly catalogs: CatalogSource
  readonly clock: Clock
  readonly requestTimeoutMs: number
  readonly pressure: Pressure
  /** In the order in which they are told. */
  readonly hooks: readonly RequestHooks[]
}

export type RequestListener = (request: WireRequest, response: WireResponse) => void

export function requestListener(handling: Handling): RequestListener {
  const { pressure, catalogs } = handling
  const lifecycle = new Lifecycle(handling.hooks)
  return (request, response) => {
    const info = parseRequest(request.method ?? 'GET', request.url ?? '/')
    if (info.isMalformed) {
      refuseMalformed(request, response)
      return
    }
    const exchange = new Exchange({
      request,
      response,
      info,
      catalog: catalogs.current,
      now: handling.clock.now(),
      auditId: auditIdOf(request),
      pressure,
      lifecycle,
    })
    response.on('error', ignore) // the client has gone; whoever writes finds out by `destroyed`
    lifecycle.tell('received', exchange)
    let answered: Answered | Promise<Answered>
    try {
      answered = walk(handling.filters, exchange)
    } catch (thrown) {
      sendError(exchange, thrown)
      lifecycle.complete(exchange)
      return
    }
    if (typeof answered === 'boolean') lifecycle.complete(exchange)
    else void finishLater(exchange, answered, handling.requestTimeoutMs)
  }
}

/** Nobody is told of a request of which nobody knows what it was for. */
function refuseMalformed(request: WireRequest, response: WireResponse): void {
  const text = '400 Bad Request'
  if (request.httpVersionMajor < 2) response.setHeader('Connection', 'close')
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Content-Length', text.length)
  response.statusCode = 400
  response.end(text)
}

/** A client may bring the name under which it will look for the request in the records. */
function auditIdOf({ headers }: WireRequest): string {
  const sent = headers['audit-id']
  return typeof sent === 'string' && sent !== '' && sent.length <= mostAuditId ? sent : newAuditId()
}

const mostAuditId = 256

const ignore = (): void => undefined

/** Waits for an answer that takes its time, though not forever. */
async function finishLater(exchange: Exchange, answered: Promise<Answered>, timeoutMs: number): Promise<void> {
  const allowedMs = exchange.timeoutMs === undefined ? timeoutMs : Math.min(timeoutMs, exchange.timeoutMs)
  // Whether it lasts may turn out only after its user was asked for somewhere else.
  const expire = (): void => void (exchange.isLongRunning || sendError(exchange, exchange.timeOut()))
  const timer = exchange.isLongRunning ? undefined : setTimeout(expire, timerMs(allowedMs))
  try {
    await answered
  } catch (thrown) {
    sendError(exchange, thrown)
  } finally {
    clearTimeout(timer)
    exchange.lifecycle.complete(exchange)
  }
}

const lineEnd = 0x0a

const withoutLineEnd = (body: Uint8Array): Uint8Array => (body.at(-1) === lineEnd ? body.subarray(0, -1) : body)

export function sendError(exchange: Exchange, thrown: unknown): void {
  const error = ApiError.from(thrown)
  if (!(thrown instanceof ApiError)) exchange.lifecycle.panic(exchange, thrown)
  const { response } = exchange
  if (response.writableEnded) return // it was answered before this happened: its time was up
  if (response.headersSent) {
    exchange.cut() // too late for a Status: a cut connection is the only honest sign
    return
  }
  try {
    sendStatus(exchange, error)
  } catch (unsendable) {
    // No answer can be begun: a client that is left without one would wait for ever.
    exchange.lifecycle.panic(exchange, unsendable)
    exchange.cut()
  }
}

function sendStatus(exchange: Exchange, error: ApiError): void {
  const { identity } = exchange.catalog
  if (error instanceof OverloadedError) {
    sendPlain(exchange, 429, `${error.message}\n`, { 'Retry-After': String(error.status.details?.retryAfterSeconds) })
    return
  }
  const query = scanQuery(exchange.info.query)
  const representation = negotiateError(
    { accept: exchange.request.headers.accept, userAgent: exchange.request.headers['user-agent'], query },
    identity,
  )
  const retryAfter = error.status.details?.retryAfterSeconds
  const represented = representDocument({ representation, identity }, failure(error))
  send(exchange, {
    code: error.status.code,
    contentType: represented.contentType,
    // The reference says in plain text that it has no such form, and so the audit log shows no object.
    isObject: error.status.code !== 406,
    status: represented.status,
    // Whoever watches reads events that end with their lines; a refusal is no event, and so has no line of its own.
    body:
      exchange.info.verb === 'watch' && represented.contentType === 'application/json'
        ? withoutLineEnd(represented.body)
        : represented.body,
    ...(retryAfter === undefined ? {} : { headers: { 'Retry-After': String(retryAfter) } }),
  })
}
