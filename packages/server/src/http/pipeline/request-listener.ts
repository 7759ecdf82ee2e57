// The request listener: creates the exchange, runs the filters until one has responded, calls lifecycle hooks and enforces deadlines.

import { randomFillSync } from 'node:crypto'
import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { requestTimeout } from '@cluster-apiserver/api/api/options/request-timeout.js'
import { parseRequest } from '@cluster-apiserver/api/api/request-info.js'
import { type Clock, timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { MemoryPressure } from '../../flow-control/memory-pressure.js'
import { isLongRunning } from '../../flow-control/request.js'
import type { HttpRequest, HttpResponse, RequestListener } from '../../net/listen/http-messages.js'
import { sendError } from '../responses/send-error.js'
import { Exchange, type LifecycleNotifier, type LifecycleStage } from './exchange.js'
import type { Filter, Handled } from './filter.js'
import type { RequestHooks } from './lifecycle.js'

interface PipelineParts {
  readonly filters: readonly Filter[]
  readonly catalogs: CatalogSource
  readonly clock: Clock
  readonly requestTimeoutMs: number
  readonly pressure: MemoryPressure
  readonly hooks: readonly RequestHooks[]
}

export function requestListener({ filters, pressure, catalogs, clock, requestTimeoutMs, hooks }: PipelineParts): RequestListener {
  const deadlines = new Deadlines(requestTimeoutMs)
  const lifecycle = new Lifecycle(hooks)
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
      now: clock.now(),
      auditId: auditIdOf(request),
      pressure,
      lifecycle,
    })
    // Without a listener an 'error' event would end the process; code that writes checks `destroyed`.
    response.on('error', ignore)
    lifecycle.notify('received', exchange)
    void serve(exchange, filters, deadlines)
  }
}

/** Calls the hooks of each stage, in the order of their list. */
class Lifecycle implements LifecycleNotifier {
  private readonly hooks: { readonly [Stage in keyof RequestHooks]-?: readonly NonNullable<RequestHooks[Stage]>[] }

  constructor(hooks: readonly RequestHooks[]) {
    const hooksOf = <Stage extends keyof RequestHooks>(stage: Stage): readonly NonNullable<RequestHooks[Stage]>[] =>
      hooks.flatMap((each) => each[stage] ?? [])
    this.hooks = {
      received: hooksOf('received'),
      authenticated: hooksOf('authenticated'),
      delegated: hooksOf('delegated'),
      responseStarted: hooksOf('responseStarted'),
      responseComplete: hooksOf('responseComplete'),
      panic: hooksOf('panic'),
    }
  }

  notify(stage: LifecycleStage, exchange: Exchange): void {
    for (const hook of this.hooks[stage]) hook(exchange)
  }

  panic(exchange: Exchange, thrown: unknown): void {
    for (const hook of this.hooks.panic) hook(exchange, thrown)
  }

  complete(exchange: Exchange): void {
    if (exchange.isLongRunning && exchange.response.headersSent && !exchange.response.writableEnded) {
      exchange.onEnd(() => this.notify('responseComplete', exchange))
    } else {
      this.notify('responseComplete', exchange)
    }
  }
}

/** Calls no hooks: they need a parsed request. */
function refuseMalformed(request: HttpRequest, response: HttpResponse): void {
  const text = '400 Bad Request'
  if (request.httpVersionMajor < 2) response.setHeader('Connection', 'close')
  response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  response.setHeader('Content-Length', text.length)
  response.statusCode = 400
  response.end(text)
}

/** The client's Audit-ID header, whatever its length, or a new id. */
function auditIdOf({ headers }: HttpRequest): string {
  const clientId = headers['audit-id']
  return typeof clientId === 'string' && clientId !== '' ? clientId : newAuditId()
}

const ignore = (): void => undefined

/** Requests that have become long-running do not expire. */
function expire(exchange: Exchange): void {
  if (exchange.isLongRunning) return
  const { request, response } = exchange
  // Otherwise Node.js would send a second response (408) if the rest of the body does not arrive.
  if ('assignSocket' in response && !response.headersSent && !request.complete) response.setHeader('Connection', 'close')
  sendError(exchange, exchange.timeOut())
}

/** Filter that ends a request after the client's `timeout` parameter. Rejects an invalid `timeout` before authentication. */
export const clientTimeout: Filter = (exchange) => {
  const { info } = exchange
  if (info.query === '' || isLongRunning(info)) return false
  const timeoutMs = requestTimeout(info.query)
  if (timeoutMs === undefined) return false
  const leftMs = timeoutMs - (performance.now() - exchange.begunMs)
  if (leftMs <= 0) throw exchange.timeOut()
  exchange.timeoutMs = timeoutMs
  const timer = setTimeout(expire, timerMs(leftMs), exchange)
  exchange.onClose(() => clearTimeout(timer))
  return false
}

/** Filter for servers without the feature gate APIResponseCompression. OpenAPI documents are compressed anyway. */
export const refuseCompression: Filter = ({ info, request }) => {
  if (info.isResource) delete request.headers['accept-encoding']
  return false
}

/** Enforces --request-timeout with one timer for all requests: a timer per request would take 5 % of a small GET. */
class Deadlines {
  readonly #timeoutMs: number
  /** Ordered by deadline. */
  readonly #open = new Set<Exchange>()
  #timer: NodeJS.Timeout | undefined

  constructor(timeoutMs: number) {
    this.#timeoutMs = timerMs(timeoutMs)
  }

  add(exchange: Exchange): void {
    this.#open.add(exchange)
    this.#timer ??= setTimeout(this.#expireDue, this.#timeoutMs).unref()
  }

  remove(exchange: Exchange): void {
    this.#open.delete(exchange)
  }

  readonly #expireDue = (): void => {
    this.#timer = undefined
    for (const exchange of this.#open) {
      const leftMs = exchange.begunMs + this.#timeoutMs - performance.now()
      if (leftMs > 0) {
        this.#timer = setTimeout(this.#expireDue, leftMs).unref()
        return
      }
      this.#open.delete(exchange)
      try {
        expire(exchange)
      } catch (thrown) {
        exchange.lifecycle.panic(exchange, thrown)
      }
    }
  }
}

async function serve(exchange: Exchange, filters: readonly Filter[], deadlines: Deadlines): Promise<void> {
  deadlines.add(exchange)
  try {
    await runFilters(filters, exchange)
  } catch (thrown) {
    sendError(exchange, thrown)
  } finally {
    deadlines.remove(exchange)
    exchange.lifecycle.complete(exchange)
  }
}

const idBytes = 16
/** Random bytes for 256 ids. */
const randomPool = Buffer.allocUnsafeSlow(256 * idBytes)
let poolOffset = randomPool.length

const uuidBuffer = Buffer.alloc(36, '-')
const digits = Buffer.from('0123456789abcdef')
const digitOffsets = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34]

/** A random UUID as a flat string: crypto.randomUUID returns a rope, whose flattening costs 3 % of a small GET. */
export function newAuditId(): string {
  if (poolOffset === randomPool.length) {
    randomFillSync(randomPool)
    poolOffset = 0
  }
  randomPool[poolOffset + 6] = ((randomPool[poolOffset + 6] as number) & 0x0f) | 0x40
  randomPool[poolOffset + 8] = ((randomPool[poolOffset + 8] as number) & 0x3f) | 0x80
  for (let i = 0; i < idBytes; i++) {
    const byte = randomPool[poolOffset + i] as number
    const offset = digitOffsets[i] as number
    uuidBuffer[offset] = digits[byte >> 4] as number
    uuidBuffer[offset + 1] = digits[byte & 0x0f] as number
  }
  poolOffset += idBytes
  return uuidBuffer.toString('latin1')
}

export async function runFilters(filters: readonly Filter[], exchange: Exchange): Promise<Handled> {
  for (const filter of filters) {
    const handled = filter(exchange)
    // Most filters decide at once; waiting for each would take 5 % of a small GET.
    if (handled === true || (handled !== false && (await handled))) return true
  }
  return false
}
