// Sends fuzzed requests unchanged over HTTP/1.1 and HTTP/2, and returns the responses.

import { type ClientHttp2Session, connect } from 'node:http2'
import { Agent, request as requestHttp1 } from 'node:https'
import type { Socket } from 'node:net'
import type { Access } from '../kit/api-client.js'
import { secureContextFor } from '../kit/secure-context.js'
import type { FuzzResponse } from './check-response.js'
import type { FuzzRequest } from './fuzz-requests.js'

/** `closed`: the server closed the connection, which is allowed. `late`: timeout. `unsendable`: Node.js rejects the request. */
export type Outcome = FuzzResponse | 'closed' | 'late' | 'unsendable'

const lateMs = 10_000

interface SendOptions {
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
}

export class FuzzClient {
  readonly #access: Access
  readonly #agent: Agent
  readonly #withErrorListener = new WeakSet<Socket>()
  #session: ClientHttp2Session | undefined

  constructor(access: Access) {
    this.#access = access
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16, ...secureContextFor(access.ca) })
  }

  send(request: FuzzRequest, protocol: 1 | 2, timeoutMs = lateMs): Promise<Outcome> {
    const options = { headers: { authorization: `Bearer ${this.#access.token}`, ...request.headers }, timeoutMs }
    return protocol === 1 ? this.#sendHttp1(request, options) : this.#sendHttp2(request, options)
  }

  #sendHttp1({ method, path, body }: FuzzRequest, { headers, timeoutMs }: SendOptions): Promise<Outcome> {
    return new Promise((resolve) => {
      const { hostname, port } = new URL(this.#access.url)
      try {
        const sent = requestHttp1({ hostname, port, method, path, headers, agent: this.#agent }, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', () => resolve('closed'))
          response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }))
          response.on('close', () => resolve('closed'))
        })
        sent.on('error', () => resolve('closed'))
        sent.on('socket', (socket) => this.#listen(socket))
        const timer = setTimeout(() => {
          resolve('late')
          sent.destroy()
        }, timeoutMs)
        sent.on('close', () => clearTimeout(timer))
        sent.end(body)
      } catch {
        resolve('unsendable')
      }
    })
  }

  /** Handles errors of idle and closing connections. */
  #listen(socket: Socket): void {
    if (this.#withErrorListener.has(socket)) return
    this.#withErrorListener.add(socket)
    socket.on('error', () => undefined)
  }

  #sendHttp2({ method, path, body }: FuzzRequest, { headers, timeoutMs }: SendOptions): Promise<Outcome> {
    return new Promise((resolve) => {
      const session = this.#openSession()
      try {
        const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
        const chunks: Buffer[] = []
        let head: Omit<FuzzResponse, 'body'> | undefined
        stream.on('response', (received) => {
          head = { status: Number(received[':status']), headers: received as FuzzResponse['headers'] }
        })
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('error', () => undefined)
        const timer = setTimeout(() => {
          resolve('late')
          // If this process was blocked, Node.js can miss that the server closed the session. The next request opens a new one.
          session.destroy()
        }, timeoutMs)
        stream.on('close', () => {
          clearTimeout(timer)
          const isWhole = head !== undefined && stream.rstCode === 0
          resolve(isWhole && head !== undefined ? { ...head, body: Buffer.concat(chunks) } : 'closed')
        })
        if (body !== undefined) stream.end(body)
      } catch {
        resolve('unsendable')
      }
    })
  }

  #openSession(): ClientHttp2Session {
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session
    this.#session = connect(this.#access.url, secureContextFor(this.#access.ca))
    this.#session.on('error', () => undefined)
    return this.#session
  }

  close(): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }
}
