// Sends requests of a fuzz over HTTP/1.1 and HTTP/2, as they are, and tells what came.

import { type ClientHttp2Session, connect } from 'node:http2'
import { Agent, request as requestHttp1 } from 'node:https'
import type { Socket } from 'node:net'
import type { Access } from '../kit/api-client.js'
import { trusting } from '../kit/trust.js'
import type { FuzzAnswer } from './check-answer.js'
import type { FuzzRequest } from './fuzz-requests.js'

/** Undefined: the connection was closed, which is an answer, too. */
export type Outcome = FuzzAnswer | 'closed' | 'late' | 'unsendable'

export const lateMs = 10_000

interface Sending {
  readonly headers: Readonly<Record<string, string>>
  readonly patienceMs: number
}

export class FuzzClient {
  readonly #access: Access
  readonly #agent: Agent
  readonly #heard = new WeakSet<Socket>()
  #session: ClientHttp2Session | undefined

  constructor(access: Access) {
    this.#access = access
    this.#agent = new Agent({ keepAlive: true, maxSockets: 16, ...trusting(access.ca) })
  }

  send(request: FuzzRequest, protocol: 1 | 2, patienceMs = lateMs): Promise<Outcome> {
    const sending = { headers: { authorization: `Bearer ${this.#access.token}`, ...request.headers }, patienceMs }
    return protocol === 1 ? this.#sendHttp1(request, sending) : this.#sendHttp2(request, sending)
  }

  #sendHttp1({ method, path, body }: FuzzRequest, { headers, patienceMs }: Sending): Promise<Outcome> {
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
        }, patienceMs)
        sent.on('close', () => clearTimeout(timer))
        sent.end(body)
      } catch {
        resolve('unsendable')
      }
    })
  }

  /** Between two requests, and while it is closed, nobody else hears what fails on a connection. */
  #listen(socket: Socket): void {
    if (this.#heard.has(socket)) return
    this.#heard.add(socket)
    socket.on('error', () => undefined)
  }

  #sendHttp2({ method, path, body }: FuzzRequest, { headers, patienceMs }: Sending): Promise<Outcome> {
    return new Promise((resolve) => {
      const session = this.#openSession()
      try {
        const stream = session.request({ ':method': method, ':path': path, ...headers }, { endStream: body === undefined })
        const chunks: Buffer[] = []
        let answered: Omit<FuzzAnswer, 'body'> | undefined
        stream.on('response', (received) => {
          answered = { status: Number(received[':status']), headers: received as FuzzAnswer['headers'] }
        })
        stream.on('data', (chunk: Buffer) => chunks.push(chunk))
        stream.on('error', () => undefined)
        const timer = setTimeout(() => {
          resolve('late')
          // Node's client does not always notice that its connection was closed while the process stood still: it would wait for ever.
          session.destroy()
        }, patienceMs)
        stream.on('close', () => {
          clearTimeout(timer)
          const isWhole = answered !== undefined && stream.rstCode === 0
          resolve(isWhole && answered !== undefined ? { ...answered, body: Buffer.concat(chunks) } : 'closed')
        })
        if (body !== undefined) stream.end(body)
      } catch {
        resolve('unsendable')
      }
    })
  }

  #openSession(): ClientHttp2Session {
    if (this.#session !== undefined && !this.#session.closed && !this.#session.destroyed) return this.#session
    this.#session = connect(this.#access.url, trusting(this.#access.ca))
    this.#session.on('error', () => undefined)
    return this.#session
  }

  close(): void {
    this.#agent.destroy()
    this.#session?.destroy()
  }
}
