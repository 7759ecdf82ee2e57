// HTTP client for tests: requests on keep-alive connections, and watches.

import type { IncomingHttpHeaders } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import type { JsonObject } from './network/json-object.js'
import { WatchStream } from './network/watch-stream.js'
import { secureContextFor } from './secure-context.js'

export interface ApiResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  readonly text: string
  /** Body as JSON; throws if it is not JSON. */
  readonly json: JsonObject
}

export interface ApiRequest {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  /** Strings and buffers are sent unchanged, other values as JSON. */
  readonly body?: unknown
  /** Aborting closes the connection, at any point of the request. */
  readonly signal?: AbortSignal
}

export interface Access {
  readonly url: string
  readonly token?: string
  readonly ca: string
  /** Client certificate and private key, PEM. */
  readonly pair?: { readonly cert: string; readonly key: string }
}

const timeoutMs = 60_000

export class ApiClient {
  readonly url: string
  private readonly access: Access
  private readonly agent: Agent

  /** `keepAlive: false`: a connection for each request, so that worker processes serve them in turn. */
  constructor(access: Access, { keepAlive = true }: { readonly keepAlive?: boolean } = {}) {
    this.access = access
    this.url = access.url
    const { ca, pair } = access
    this.agent = new Agent({ keepAlive, maxSockets: 300, ...(pair === undefined ? secureContextFor(ca) : { ca, ...pair }) })
  }

  send(apiRequest: ApiRequest): Promise<ApiResponse> {
    const payload = bytesOf(apiRequest.body)
    return new Promise((resolve, reject) => {
      const request = httpsRequest(new URL(this.url), this.requestOptions(apiRequest, payload), (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(responseOf(response.statusCode ?? 0, response.headers, Buffer.concat(chunks))))
      })
      request.setTimeout(timeoutMs, () => request.destroy(new Error(`no response to ${apiRequest.method ?? 'GET'} ${apiRequest.path}`)))
      request.on('error', reject)
      request.end(payload)
    })
  }

  get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<ApiResponse> {
    return this.send({ path, headers })
  }

  post(path: string, body: unknown): Promise<ApiResponse> {
    return this.send({ method: 'POST', path, body })
  }

  put(path: string, body: unknown): Promise<ApiResponse> {
    return this.send({ method: 'PUT', path, body })
  }

  delete(path: string, body?: unknown): Promise<ApiResponse> {
    return this.send({ method: 'DELETE', path, ...(body === undefined ? {} : { body }) })
  }

  patch(path: string, type: string, body: unknown): Promise<ApiResponse> {
    return this.send({ method: 'PATCH', path, body, headers: { 'content-type': type } })
  }

  /** Opens a watch and waits for the response headers; `path` includes the `watch` parameter. */
  watch(path: string, headers: Readonly<Record<string, string>> = {}): Promise<WatchStream> {
    return new Promise((resolve, reject) => {
      const request = httpsRequest(new URL(this.url), this.requestOptions({ path, headers }, undefined), (response) => {
        clearTimeout(timer)
        resolve(new WatchStream(request, response))
      })
      const timer = setTimeout(() => request.destroy(new Error(`no response to the watch ${path}`)), timeoutMs)
      request.on('close', () => clearTimeout(timer))
      request.on('error', reject)
      request.end()
    })
  }

  close(): void {
    this.agent.destroy()
  }

  private requestOptions({ method = 'GET', path, headers, signal }: ApiRequest, payload: Buffer | undefined) {
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

function responseOf(status: number, headers: IncomingHttpHeaders, bytes: Buffer): ApiResponse {
  return {
    status,
    headers,
    bytes,
    get text() {
      return bytes.toString('utf8')
    },
    get json() {
      return JSON.parse(bytes.toString('utf8')) as JsonObject
    },
  }
}
