// Outbound HTTP/1.1 requests (undici): one per connection at a time, with time and size limits, without redirects.
// Not HTTP/2: a server may flood an idle session, while unrequested bytes close an HTTP/1.1 connection.

import type { IncomingHttpHeaders } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Client, Dispatcher } from 'undici'
import { ChunkBuffer } from './chunk-buffer.js'
import type { Dial } from './http-connect-tunnel.js'
import { networkErrorMessage } from './network-error-message.js'
import { closedError, isReset, SocketOpener, type SocketTarget, type UpstreamTls } from './open-socket.js'

interface OutboundRequest {
  readonly method: string
  readonly path: string
  readonly headers: { readonly [name: string]: string | readonly string[] }
  readonly body?: string | undefined
  /** Maximum length of the response body. 0: only the head is awaited. */
  readonly maxBytes: number
  /** Truncates a longer body instead of failing. */
  readonly truncates?: boolean | undefined
  /** Called with the size of each chunk of the body; returns false if there is no memory for it. */
  readonly reserveMemory?: ((bytes: number) => boolean) | undefined
  readonly signal: AbortSignal
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export class ResponseTimeoutError extends Error {
  override readonly name = 'ResponseTimeoutError'
  constructor(timeoutMs: number) {
    super(`no response within ${timeoutMs} ms`)
  }
}

/** A reused connection was closed before a response: the request may be sent again. */
export class StaleConnectionError extends Error {
  override readonly name = 'StaleConnectionError'
}

/** Milliseconds: idle connections are closed after a minute, or a second before the limit that the server announces. */
const keepAlive = { keepAliveTimeout: 60_000, keepAliveMaxTimeout: 60_000, keepAliveTimeoutThreshold: 1_000 }
/** The caller's signal limits the time. */
const noTimeouts = { headersTimeout: 0, bodyTimeout: 0 }
const maxHeaderSize = 64 << 10

/** Loaded with the first request: loading undici takes longer than the rest of a start. */
let undici: typeof import('undici') | undefined

/** One connection to one server; closed after a failure. */
export class Connection {
  readonly #client: Client
  readonly #closing = new AbortController()
  /** Number of opened sockets: undici opens another one if the server closed it between requests. */
  #sockets = 0

  static async create(opener: SocketOpener, { url }: Pick<SocketTarget, 'url'>): Promise<Connection> {
    undici ??= await import('undici')
    return new Connection(undici, opener, url)
  }

  private constructor({ Client: UndiciClient }: typeof import('undici'), opener: SocketOpener, url: URL) {
    const { signal } = this.#closing
    this.#client = new UndiciClient(url.origin, {
      ...keepAlive,
      ...noTimeouts,
      maxHeaderSize,
      connect: (_options, done) => {
        this.#sockets++
        opener.open(signal).then(
          (socket) => done(null, socket),
          (error: Error) => done(error, null),
        )
      },
    })
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  onDisconnect(listener: () => void): void {
    this.#client.on('disconnect', listener)
  }

  /** Rejects with the reason of the signal, a `StaleConnectionError`, or the network error. */
  request({ method, path, headers, body, maxBytes, truncates = false, reserveMemory, signal }: OutboundRequest): Promise<OutboundResponse> {
    const socketsBefore = this.#sockets
    return new Promise((resolve, reject) => {
      const chunks = new ChunkBuffer()
      let head: Pick<OutboundResponse, 'status' | 'headers'> | undefined
      let isDone = false
      const end = (): void => {
        isDone = true
        signal.removeEventListener('abort', abort)
        this.#closing.signal.removeEventListener('abort', abort)
      }
      const fail = (reason: unknown): void => {
        if (isDone) return
        end()
        const isStale = head === undefined && socketsBefore === this.#sockets && socketsBefore > 0 && isReset(reason) && !this.isClosed
        reject(isStale ? new StaleConnectionError(undefined, { cause: reason }) : reason)
        this.close()
      }
      const abort = (): void => fail(signal.aborted ? signal.reason : closedError())
      const finish = (): void => {
        if (isDone || head === undefined) return
        end()
        resolve({ ...head, body: chunks.join() })
      }
      const truncate = (): void => {
        finish()
        this.close()
      }
      const handler: Dispatcher.DispatchHandler = {
        onRequestStart: (controller) => isDone && controller.abort(closedError()),
        onResponseStart: (_controller, status, received) => {
          if (status < 200) return
          head = { status, headers: received }
          if (maxBytes === 0) truncate()
        },
        onResponseData: (_controller, chunk) => {
          if (isDone) return
          const remaining = maxBytes - chunks.bytes
          if (chunk.length > remaining && !truncates) fail(new Error(`the response is longer than ${maxBytes} bytes`))
          else if (reserveMemory?.(chunk.length) === false) fail(new Error('there is no memory for the response'))
          else chunks.add(chunk.subarray(0, remaining))
          if (truncates && chunk.length >= remaining) truncate()
        },
        onResponseEnd: finish,
        onResponseError: (_controller, error) => fail(networkError(error)),
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#closing.signal.addEventListener('abort', abort, { once: true })
      if (signal.aborted || this.isClosed) abort()
      else {
        const outgoing = headers as { [name: string]: string | string[] }
        this.#client.dispatch({ method: method as Dispatcher.HttpMethod, path, headers: outgoing, body: body ?? null }, handler)
      }
    })
  }

  /** Starts a request with an endless response; the caller closes the connection. */
  async stream(request: Pick<OutboundRequest, 'path' | 'headers' | 'signal'>, idleMs: number): Promise<Dispatcher.ResponseData> {
    const { path, headers, signal } = request
    const outgoing = headers as { [name: string]: string | string[] }
    return this.#client.request({ method: 'GET', path, headers: outgoing, signal, bodyTimeout: idleMs }).catch((thrown: Error) => {
      throw signal.aborted ? signal.reason : networkError(thrown)
    })
  }

  close(): void {
    if (this.isClosed) return
    this.#closing.abort()
    this.#client.destroy(closedError()).catch(ignore)
  }
}

const ignore = (): void => undefined

/** Error codes of undici for a connection that was closed before the end of the response. */
const closedCodes: ReadonlySet<string> = new Set(['UND_ERR_SOCKET', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'HPE_INVALID_EOF_STATE'])

const networkError = (error: NodeJS.ErrnoException): Error => (closedCodes.has(error.code ?? '') ? closedError({ cause: error }) : error)

interface DocumentRequest extends UpstreamTls {
  readonly url: string
  readonly method?: string
  readonly body?: string
  readonly headers?: OutboundRequest['headers']
  /** From the DNS lookup to the last byte. */
  readonly timeoutMs: number
  readonly maxBytes: number
  readonly truncates?: boolean
  readonly signal?: AbortSignal
  readonly dial?: Dial | undefined
}

export interface ReceivedDocument {
  readonly status: number
  readonly contentType: string
  /** Empty without an `ETag` header. */
  readonly tag: string
  readonly body: Buffer
}

/** Requests a document on a new connection, whatever its status. Rejects with the error messages of kube-apiserver. */
export async function getDocument({
  method = 'GET',
  headers = {},
  timeoutMs,
  signal,
  ...request
}: DocumentRequest): Promise<ReceivedDocument> {
  const url = new URL(request.url)
  const controller = new AbortController()
  const abort = (): void => controller.abort(signal?.reason)
  const timer = setTimeout(() => controller.abort(new ResponseTimeoutError(timeoutMs)), timerMs(timeoutMs))
  signal?.addEventListener('abort', abort, { once: true })
  if (signal?.aborted) abort()
  let connection: Connection | undefined
  try {
    connection = await Connection.create(openerFor(request, url), { url })
    const path = `${url.pathname}${url.search}`
    const { status, headers: received, body } = await connection.request({ ...request, method, headers, path, signal: controller.signal })
    const { etag: tag = '', 'content-type': contentType = '' } = received
    return { status, contentType, tag, body }
  } catch (thrown) {
    throw new Error(`${method.charAt(0)}${method.slice(1).toLowerCase()} ${JSON.stringify(request.url)}: ${describe(thrown, signal)}`, {
      cause: thrown,
    })
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
    connection?.close()
  }
}

function openerFor({ cert, key, ...target }: UpstreamTls & { readonly dial?: Dial | undefined }, url: URL): SocketOpener {
  return new SocketOpener({ ...target, url, clientPair: () => (cert === undefined || key === undefined ? undefined : { cert, key }) })
}

function describe(thrown: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted) return 'context canceled'
  if (thrown instanceof ResponseTimeoutError) return 'context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
  return networkErrorMessage(thrown)
}

interface LineStreamRequest extends UpstreamTls {
  readonly url: string
  readonly headers?: OutboundRequest['headers']
  /** Time until the response head. */
  readonly headMs: number
  /** Maximum time without a byte. */
  readonly idleMs: number
  readonly maxLineBytes: number
  readonly signal: AbortSignal
  readonly dial?: Dial | undefined
}

/** The server responded with another status than 200. */
export class LineStreamRefusedError extends Error {
  override readonly name = 'LineStreamRefusedError'
  readonly status: number

  constructor(status: number) {
    super(`the server responded with status ${status}`)
    this.status = status
  }
}

const newline = 0x0a

/** Reads the lines of an endless response, such as a watch, with back-pressure. Throws if it breaks off. */
export async function* readLines({
  headers = {},
  headMs,
  idleMs,
  maxLineBytes,
  signal,
  ...target
}: LineStreamRequest): AsyncGenerator<Buffer, void, void> {
  const url = new URL(target.url)
  const connection = await Connection.create(openerFor(target, url), { url })
  const headTimer = new AbortController()
  try {
    const timeout = sleep(headMs, undefined, { signal: headTimer.signal, ref: false }).then(() => {
      throw new ResponseTimeoutError(headMs)
    })
    timeout.catch(ignore)
    const { statusCode, body } = await Promise.race([
      connection.stream({ path: `${url.pathname}${url.search}`, headers, signal }, idleMs),
      timeout,
    ])
    headTimer.abort()
    // Closing the connection errors an unread body.
    body.on('error', ignore)
    if (statusCode !== 200) throw new LineStreamRefusedError(statusCode)
    const rest = new ChunkBuffer()
    for await (const chunk of body as AsyncIterable<Buffer>) {
      let start = 0
      for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
        rest.add(chunk.subarray(start, end))
        const line = rest.join()
        rest.clear()
        yield line
        start = end + 1
      }
      if (start === chunk.length) continue
      rest.add(chunk.subarray(start))
      if (rest.bytes > maxLineBytes) throw new Error(`a line is longer than ${maxLineBytes} bytes`)
    }
  } finally {
    headTimer.abort()
    connection.close()
  }
}

/** Probes the health of a local component. Any certificate is accepted, because no credentials are sent. */
export async function probe(url: string, timeoutMs: number): Promise<{ readonly isHealthy: boolean; readonly message: string }> {
  try {
    const { status, body } = await getDocument({ url, insecure: true, timeoutMs, maxBytes: 10 << 10, truncates: true })
    const isHealthy = status >= 200 && status < 400
    return { isHealthy, message: isHealthy ? body.toString('utf8') : `HTTP probe failed with statuscode: ${status}` }
  } catch (thrown) {
    return { isHealthy: false, message: (thrown as Error).message }
  }
}
