// Connections of tenants: HTTP/1.1 with keep-alive, or shared HTTP/2 sessions. Partial responses are kept.

import type { OutgoingHttpHeaders } from 'node:http'
import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2'
import { Agent, request as requestHttp1 } from 'node:https'
import type { TLSSocket } from 'node:tls'
import { gunzipSync } from 'node:zlib'

export interface Endpoint {
  readonly url: string
  readonly ca: string
}

export interface Certificate {
  readonly cert: string
  readonly key: string
}

interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
}

export interface Pacing {
  readonly hangUpMs?: number
  readonly writeStallMs?: number
  readonly readStallMs?: number
  readonly onBytes?: (bytes: Buffer) => void
}

export interface HttpResponse {
  /** 0: no response headers came. */
  readonly status: number
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly body: Buffer
  /** False: the connection ended before the response. */
  readonly isWhole: boolean
}

export interface Connection {
  readonly protocol: 'HTTP/1.1' | 'HTTP/2'
  send(request: HttpRequest, pacing?: Pacing): Promise<HttpResponse>
  close(): void
}

const timeoutMs = 90_000
const closeTimeoutMs = 10_000
const noResponse: HttpResponse = { status: 0, headers: {}, body: Buffer.alloc(0), isWhole: false }

/** Collects a response, also a partial one. */
class Collector {
  readonly response: Promise<HttpResponse>
  #status = 0
  #headers: HttpResponse['headers'] = {}
  readonly #chunks: Buffer[] = []
  readonly #onBytes: Pacing['onBytes']
  #resolve: (response: HttpResponse) => void = () => undefined
  readonly #timers: NodeJS.Timeout[] = []

  constructor({ hangUpMs = timeoutMs, onBytes }: Pacing, hangUp: () => void) {
    this.#onBytes = onBytes
    this.response = new Promise((resolve) => {
      this.#resolve = resolve
    })
    this.after(hangUpMs, hangUp)
  }

  after(ms: number, work: () => void): void {
    this.#timers.push(setTimeout(work, ms))
  }

  begin(status: number, headers: HttpResponse['headers']): void {
    this.#status = status
    this.#headers = headers
  }

  push(chunk: Buffer): void {
    if (this.#onBytes === undefined) this.#chunks.push(chunk)
    else this.#onBytes(chunk)
  }

  finish(isWhole: boolean): void {
    for (const timer of this.#timers) clearTimeout(timer)
    const bytes = Buffer.concat(this.#chunks)
    const isGzip = this.#headers['content-encoding'] === 'gzip'
    const body = isGzip && isWhole ? gunzipSync(bytes) : bytes
    this.#resolve({ status: this.#status, headers: this.#headers, body, isWhole })
  }
}

interface Writable {
  write(chunk: Buffer): boolean
  end(chunk?: Buffer): unknown
}

function writeBody(stream: Writable, body: Buffer | undefined, { writeStallMs }: Pacing, collector: Collector): void {
  if (body === undefined || writeStallMs === undefined) {
    stream.end(body)
    return
  }
  const half = body.length >> 1
  stream.write(body.subarray(0, half))
  collector.after(writeStallMs, () => stream.end(body.subarray(half)))
}

export function openHttp1({ url, ca }: Endpoint, certificate?: Certificate): Connection {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, ...certificate })
  const { hostname, port } = new URL(url)
  const withErrorListener = new WeakSet<TLSSocket>()
  return {
    protocol: 'HTTP/1.1',
    send: ({ method, path, headers, body }, pacing = {}) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) }
      const sent = requestHttp1({ hostname, port, method, path, headers: { ...headers, ...length }, agent })
      const collector = new Collector(pacing, () => sent.destroy())
      sent.on('response', (response) => {
        collector.begin(response.statusCode ?? 0, response.headers)
        response.on('error', () => collector.finish(false))
        response.on('end', () => collector.finish(response.complete))
        response.on('close', () => collector.finish(false))
        const read = (): void => void response.on('data', (chunk: Buffer) => collector.push(chunk))
        if (pacing.readStallMs === undefined) read()
        else collector.after(pacing.readStallMs, read)
      })
      sent.on('socket', (socket) => {
        // Between two requests nothing else listens for errors of a kept connection.
        if (!withErrorListener.has(socket as TLSSocket)) socket.on('error', () => undefined)
        withErrorListener.add(socket as TLSSocket)
      })
      sent.on('error', () => collector.finish(false))
      sent.on('close', () => collector.finish(false))
      writeBody(sent, body, pacing, collector)
      return collector.response
    },
    close: () => agent.destroy(),
  }
}

export function openHttp2({ url, ca }: Endpoint, certificate?: Certificate): Connection {
  let session: ClientHttp2Session | undefined
  const open = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session
    session = connect(url, { ca, ...certificate })
    session.on('error', () => undefined)
    session.setMaxListeners(100)
    return session
  }
  /** Undefined: the session is about to close. */
  const begin = (headers: OutgoingHttpHeaders, endStream: boolean): ClientHttp2Stream | undefined => {
    try {
      return open().request(headers, { endStream })
    } catch {
      session?.destroy()
      return undefined
    }
  }
  return {
    protocol: 'HTTP/2',
    send: ({ method, path, headers, body }, pacing = {}) => {
      const stream = begin({ ':method': method, ':path': path, ...headers }, body === undefined)
      if (stream === undefined) return Promise.resolve(noResponse)
      const collector = new Collector(pacing, () => stream.close(constants.NGHTTP2_CANCEL))
      // If the server was killed during a write, Node.js 20 reports nothing and cannot close the stream.
      collector.after((pacing.hangUpMs ?? timeoutMs) + closeTimeoutMs, () => stream.session?.destroy())
      stream.on('response', ({ ':status': status = 0, ...received }) => {
        collector.begin(status, received as HttpResponse['headers'])
        const read = (): void => void stream.on('data', (chunk: Buffer) => collector.push(chunk))
        if (pacing.readStallMs === undefined) read()
        else collector.after(pacing.readStallMs, read)
      })
      let isEnded = false
      stream.on('end', () => {
        isEnded = true
      })
      stream.on('error', () => undefined)
      stream.on('close', () => collector.finish(isEnded && stream.rstCode === 0))
      if (body !== undefined) writeBody(stream, body, pacing, collector)
      return collector.response
    },
    close: () => session?.destroy(),
  }
}
