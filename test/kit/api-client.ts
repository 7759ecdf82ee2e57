// A small client for tests: plain requests on connections that are kept, and watches as lists of events that grow.

import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { trusting } from './trust.js'
import { WatchStream } from './watch-stream.js'
import type { Wire } from './wire.js'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** The body as JSON; throws when it is none. */
  readonly json: Wire
}

export interface Sending {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** A text or bytes go as they are, anything else as JSON. */
  readonly body?: unknown
  /** Cuts the connection, wherever the request is by then. */
  readonly signal?: AbortSignal
}

export interface Access {
  readonly url: string
  readonly token?: string
  readonly ca: string
}

const patienceMs = 60_000

export class ApiClient {
  readonly url: string
  private readonly access: Access
  private readonly agent: Agent

  constructor(access: Access) {
    this.access = access
    this.url = access.url
    this.agent = new Agent({ keepAlive: true, maxSockets: 300, ...trusting(access.ca) })
  }

  send(sending: Sending): Promise<Answer> {
    const payload = bytesOf(sending.body)
    return new Promise((resolve, reject) => {
      const request = httpsRequest(new URL(this.url), this.requestOptions(sending, payload), (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(answerOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))))
      })
      request.setTimeout(patienceMs, () => request.destroy(new Error(`no answer to ${sending.method ?? 'GET'} ${sending.path}`)))
      request.on('error', reject)
      request.end(payload)
    })
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send({ path, headers })
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.send({ method: 'POST', path, body })
  }

  put(path: string, body: unknown): Promise<Answer> {
    return this.send({ method: 'PUT', path, body })
  }

  delete(path: string, body?: unknown): Promise<Answer> {
    return this.send({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) })
  }

  patch(path: string, type: string, body: unknown): Promise<Answer> {
    return this.send({ method: 'PATCH', path, body, headers: { 'content-type': type } })
  }

  /** Opens a watch and waits for its head; `path` has the `watch` parameter already. */
  watch(path: string, headers: Readonly<Record<string, string>> = {}): Promise<WatchStream> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest(new URL(this.url), this.requestOptions({ path, headers }, undefined), (response) => {
        clearTimeout(late)
        resolve(new WatchStream(request, response))
      })
      const late = setTimeout(() => request.destroy(new Error(`no answer to the watch ${path}`)), patienceMs)
      request.on('close', () => clearTimeout(late))
      request.on('error', reject)
      request.end()
    })
  }

  close(): void {
    this.agent.destroy()
  }

  private requestOptions({ method = 'GET', path, headers, signal }: Sending, payload: Buffer | undefined) {
    const { token } = this.access
    return {
      method,
      path,
      agent: this.agent,
      ...(signal === undefined ? {} : { signal }),
      headers: {
        accept: 'application/json',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
        ...(payload === undefined || headers?.['transfer-encoding'] !== undefined ? {} : { 'content-length': String(payload.length) }),
        ...headers,
      },
    }
  }
}

function bytesOf(body: unknown): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

function answerOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): Answer {
  return {
    status,
    headers,
    bytes,
    get text() {
      return bytes.toString('utf8')
    },
    get json() {
      return JSON.parse(bytes.toString('utf8')) as Wire
    },
  }
}
