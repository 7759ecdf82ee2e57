// A JSON endpoint, such as a webhook: posts a document and reads one, with time and size limits, over a pool of connections.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { type CertificateCounter, type CertificateFlaw, CertificateFlawCounter } from '../tls/certificate-flaws.js'
import type { KeyPair } from '../tls/issue-certificate.js'
import { Connection, type OutboundResponse, ResponseTimeoutError, StaleConnectionError } from './http-client.js'
import { cleanPathOf, closedError, SocketOpener, type SocketTarget } from './open-socket.js'

export interface EndpointSettings extends Omit<SocketTarget, 'url' | 'clientPair'> {
  readonly url: string
  /** Client certificate in PEM, read for each connection; the same value until it changes. */
  readonly clientPair?: () => KeyPair
  /** Value of the `Authorization` header, read for each request. */
  readonly authorization?: () => string
  readonly userAgent?: string
  /** Counts flaws of the server's certificate. */
  readonly counter?: CertificateCounter | undefined
}

/** Memory budget shared by several endpoints. */
export interface ResponseMemory {
  /** Returns false if the budget is exhausted. */
  take(bytes: number): boolean
  give(bytes: number): void
}

export interface EndpointLimits {
  readonly timeoutMs: number
  readonly maxSockets?: number
  /** Maximum length of a response body. */
  readonly maxBytes?: number
  readonly memory?: ResponseMemory
}

export interface PostOptions {
  /** Calls the listener when the caller aborts; returns the function that removes the listener. */
  readonly onAbort?: ((listener: (reason: unknown) => void) => () => void) | undefined
  /** Overrides the timeout of the endpoint. */
  readonly timeoutMs?: number
  /** Path and query; overrides those of the URL. */
  readonly path?: string
  /** Called with each flaw of the server's certificate, if they are counted. */
  readonly onFlaw?: ((flaw: CertificateFlaw) => void) | undefined
}

export interface EndpointResponse {
  readonly status: number
  readonly body: Buffer
  /** In seconds, from the `Retry-After` header. */
  readonly retryAfter: number | undefined
  readonly contentType?: string
}

const defaultMaxBytes = 4 << 20
const defaultMaxSockets = 64
/** Idle connections kept open: a handshake costs more than ten requests. */
const maxIdle = 64
/** Maximum number of attempts: a request is sent again if the server closed the reused connection before its response. */
const maxAttempts = 3

type Waiter = (connection: Promise<Connection>) => void

export class JsonEndpoint {
  readonly #settings: EndpointSettings
  readonly #limits: EndpointLimits
  readonly #url: URL
  readonly #headers: { readonly [name: string]: string }
  readonly #opener: SocketOpener
  readonly #flaws: CertificateFlawCounter | undefined
  readonly #all = new Set<Connection>()
  /** Used as a stack: the last used connection is used next. */
  readonly #idle: Connection[] = []
  readonly #waiting = new Set<Waiter>()
  /** Number of connections, including those being opened. */
  #count = 0
  #isClosed = false

  constructor(settings: EndpointSettings, limits: EndpointLimits) {
    const { url, userAgent, counter } = settings
    this.#settings = settings
    this.#limits = limits
    this.#url = new URL(url)
    this.#flaws = counter && new CertificateFlawCounter(counter)
    this.#opener = new SocketOpener({ ...settings, url: this.#url })
    const userAgentHeader: { [name: string]: string } = userAgent === undefined ? {} : { 'User-Agent': userAgent }
    this.#headers = { ...userAgentHeader, 'Content-Type': 'application/json', Accept: 'application/json, */*' }
  }

  /** Posts a document; a string is sent as it is. Rejects if the response is late or too long. */
  async post(
    document: unknown,
    { timeoutMs = this.#limits.timeoutMs, onAbort, path, onFlaw }: PostOptions = {},
  ): Promise<EndpointResponse> {
    const controller = new AbortController()
    const timer = setTimeout(() => controller.abort(new ResponseTimeoutError(timeoutMs)), timerMs(timeoutMs))
    const stopListening = onAbort?.((reason) => controller.abort(reason))
    const { memory, maxBytes = defaultMaxBytes } = this.#limits
    const authorization = this.#settings.authorization?.()
    let reservedBytes = 0
    const reserveMemory = (bytes: number): boolean => {
      if (memory?.take(bytes) === false) return false
      reservedBytes += bytes
      return true
    }
    try {
      const response = await this.#send({
        method: 'POST',
        path: path ?? `${cleanPathOf(this.#url)}${this.#url.search}`,
        headers: authorization === undefined ? this.#headers : { ...this.#headers, Authorization: authorization },
        body: typeof document === 'string' ? document : JSON.stringify(document),
        maxBytes,
        reserveMemory,
        signal: controller.signal,
      })
      this.#flaws?.countResponse(this.#opener.lastSocket, onFlaw)
      return endpointResponse(response)
    } catch (thrown) {
      this.#flaws?.countFailure(thrown, onFlaw)
      throw thrown
    } finally {
      clearTimeout(timer)
      stopListening?.()
      memory?.give(reservedBytes)
    }
  }

  /** Requests under way fail, and no more are sent. */
  close(): void {
    this.#isClosed = true
    for (const waiter of this.#waiting) waiter(Promise.reject(closedError()))
    this.#waiting.clear()
    for (const connection of this.#all) connection.close()
    this.#all.clear()
    this.#idle.length = 0
  }

  async #send(request: Parameters<Connection['request']>[0]): Promise<OutboundResponse> {
    for (let attempt = 1; ; attempt++) {
      const connection = await this.#acquire(request.signal, attempt === maxAttempts)
      try {
        return await connection.request(request)
      } catch (thrown) {
        if (!(thrown instanceof StaleConnectionError)) throw thrown
        if (attempt === maxAttempts || this.#isClosed) throw thrown.cause
      } finally {
        this.#release(connection)
      }
    }
  }

  /** `mustBeNew`: no reused connection, because an idle one may be stale. */
  async #acquire(signal: AbortSignal, mustBeNew: boolean): Promise<Connection> {
    if (this.#isClosed) throw closedError()
    signal.throwIfAborted()
    const idle = this.#idle.pop()
    if (idle !== undefined && !mustBeNew) return idle
    if (idle !== undefined) this.#discard(idle)
    if (this.#count < (this.#limits.maxSockets ?? defaultMaxSockets)) return this.#create()
    return new Promise<Connection>((resolve, reject) => {
      const waiter: Waiter = (connection) => {
        signal.removeEventListener('abort', onAbort)
        connection.then(resolve, reject)
      }
      const onAbort = (): void => {
        this.#waiting.delete(waiter)
        reject(signal.reason)
      }
      this.#waiting.add(waiter)
      signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  async #create(): Promise<Connection> {
    this.#count++
    const connection = await Connection.create(this.#opener, { url: this.#url })
    this.#all.add(connection)
    if (this.#isClosed) connection.close()
    connection.onDisconnect(() => {
      const index = this.#idle.indexOf(connection)
      if (index < 0) return
      this.#idle.splice(index, 1)
      this.#discard(connection)
    })
    return connection
  }

  #discard(connection: Connection): void {
    connection.close()
    if (this.#all.delete(connection)) this.#count--
  }

  #release(connection: Connection): void {
    const [next] = this.#waiting
    if (connection.isClosed || (next === undefined && this.#idle.length >= maxIdle)) {
      this.#discard(connection)
      // In an immediate: callers that abort in the same turn of the event loop must not open a connection each.
      if (next !== undefined) setImmediate(() => this.#replace())
    } else if (next === undefined) this.#idle.push(connection)
    else {
      this.#waiting.delete(next)
      next(Promise.resolve(connection))
    }
  }

  #replace(): void {
    const [next] = this.#waiting
    if (next === undefined || this.#isClosed || this.#count >= (this.#limits.maxSockets ?? defaultMaxSockets)) return
    this.#waiting.delete(next)
    next(this.#create())
  }
}

function endpointResponse({ status, body, headers }: OutboundResponse): EndpointResponse {
  const { 'retry-after': retryAfter = '', 'content-type': contentType = '' } = headers
  const seconds = retryAfter === '' ? Number.NaN : Number(retryAfter)
  return { status, body, retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : undefined, contentType }
}
