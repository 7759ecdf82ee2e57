// Sends requests over a transport: credentials, impersonation, warnings, retries, timeouts, errors.

import { onAbort } from '@cluster-apiserver/api/base/async/on-abort.js'
import { rejectOnAbort } from '@cluster-apiserver/api/base/async/reject-on-abort.js'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { decodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { OptionNames } from '@cluster-apiserver/api/base/unknown-options.js'
import { isUnauthorized, isVersionTooLarge, ProtocolError, type StatusBody, StatusError, TimeoutError } from '../errors.js'
import type { Credential, CredentialSource, MessageSocket, Transport, TransportRequest, TransportResponse } from '../transport/transport.js'
import { checkImpersonation, type Impersonation, impersonationHeaders } from './impersonation.js'
import { type Query, queryText, type RequestOptions, requestNames } from './request-options.js'

export interface RequesterSettings {
  readonly transport: Transport
  readonly credentials?: CredentialSource | undefined
  readonly impersonate?: Impersonation | undefined
  /** Called for each Warning header. */
  readonly onWarning?: ((warning: Warning) => void) | undefined
  /** Maximum retries of responses with Retry-After (429, 5xx). Default: 10. */
  readonly retries?: number | undefined
  readonly userAgent?: string | undefined
  /** Default timeout of requests; does not apply to watches, streamed logs and WebSockets. */
  readonly timeoutMs?: number | undefined
}

export interface ApiRequest extends RequestOptions {
  readonly method?: string
  readonly path: string
  readonly query?: Query
  readonly accept?: string
  readonly body?: unknown
  readonly contentType?: string
}

export const apiRequestNames: OptionNames<ApiRequest> = {
  method: true,
  path: true,
  query: true,
  accept: true,
  body: true,
  contentType: true,
  ...requestNames,
}

const jsonMediaType = 'application/json'
const maxRetries = 10
/** Maximum retries of "Too large resource version": the server waits for the version before each response. */
const maxVersionRetries = 2
const maxRetryAfterSeconds = 60
const noCredential: Credential = {}

export class Requester {
  readonly settings: RequesterSettings

  constructor(settings: RequesterSettings) {
    if (settings.impersonate !== undefined) checkImpersonation(settings.impersonate)
    this.settings = settings
  }

  json<T>(request: ApiRequest): Promise<T> {
    return this.sendAndRead(request, async (response) => parseJson(await response.text()) as T)
  }

  text(request: ApiRequest): Promise<string> {
    return this.sendAndRead(request, (response) => response.text())
  }

  async withDeadline<T>(work: Promise<T>, options: RequestOptions): Promise<T> {
    const deadline = new Deadline(options, this.settings.timeoutMs)
    try {
      return await rejectOnAbort(work, deadline.signal)
    } catch (thrown) {
      throw deadline.explain(thrown)
    } finally {
      deadline.clear()
    }
  }

  async sendAndRead<T>(request: ApiRequest, read: (response: TransportResponse) => Promise<T>): Promise<T> {
    const deadline = new Deadline(request, this.settings.timeoutMs)
    try {
      return await read(await this.send(request, deadline.signal))
    } catch (thrown) {
      throw deadline.explain(thrown)
    } finally {
      deadline.clear()
    }
  }

  async send(request: ApiRequest, signal: AbortSignal | undefined = request.signal): Promise<TransportResponse> {
    const { transport, retries = maxRetries } = this.settings
    signal?.throwIfAborted()
    let hasNewCredential = false
    for (let attempt = 0; ; attempt++) {
      const credential = await this.credential(signal)
      const response = await transport.send({
        method: request.method ?? 'GET',
        path: `${request.path}${request.query === undefined ? '' : queryText(request.query)}`,
        headers: this.headers(request, credential),
        ...(request.body === undefined ? {} : { body: bodyOf(request.body) }),
        credential,
        signal,
      })
      this.warn(response)
      if (response.status < 300) return response
      if (response.status < 400) {
        // A redirect would send credentials to another server.
        response.discard()
        throw new ProtocolError(`the server responded with ${response.status}: redirects are not followed`)
      }
      if (response.status === 401 && this.settings.credentials?.invalidate?.(credential) === true && !hasNewCredential) {
        response.discard()
        hasNewCredential = true
        continue
      }
      const waitSeconds = retryAfterOf(response)
      if (waitSeconds === undefined || attempt >= retries) throw await statusErrorOf(response)
      if (response.status === 504 && attempt >= maxVersionRetries) {
        const error = await statusErrorOf(response)
        if (isVersionTooLarge(error)) throw error
      } else response.discard()
      await sleep(Math.min(waitSeconds, maxRetryAfterSeconds) * 1000, signal)
    }
  }

  async openSocket(request: ApiRequest & { readonly protocols: readonly string[] }): Promise<MessageSocket> {
    for (let isFirst = true; ; isFirst = false) {
      const credential = await this.credential(request.signal)
      try {
        return await this.settings.transport.openSocket({
          path: `${request.path}${request.query === undefined ? '' : queryText(request.query)}`,
          headers: this.headers(request, credential),
          protocols: request.protocols,
          credential,
          signal: request.signal,
        })
      } catch (thrown) {
        if (!isFirst || !isUnauthorized(thrown) || this.settings.credentials?.invalidate?.(credential) !== true) throw thrown
      }
    }
  }

  async identify(signal?: AbortSignal): Promise<{ readonly headers: TransportRequest['headers']; readonly credential: Credential }> {
    const credential = await this.credential(signal)
    return { headers: this.identityHeaders(credential), credential }
  }

  private async credential(signal: AbortSignal | undefined): Promise<Credential> {
    return this.settings.credentials?.current(signal) ?? noCredential
  }

  private headers(request: ApiRequest, credential: Credential): TransportRequest['headers'] {
    return {
      accept: request.accept ?? jsonMediaType,
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? jsonMediaType }),
      ...this.identityHeaders(credential),
    }
  }

  private identityHeaders(credential: Credential): TransportRequest['headers'] {
    const { impersonate, userAgent } = this.settings
    return {
      ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
      ...(credential.authorization === undefined ? {} : { authorization: credential.authorization }),
      ...(impersonate === undefined ? {} : impersonationHeaders(impersonate)),
    }
  }

  private warn(response: TransportResponse): void {
    const { onWarning } = this.settings
    if (onWarning === undefined) return
    const text = response.header('warning')
    if (text !== '') for (const warning of readWarnings(text)) onWarning(warning)
  }
}

const bodyOf = (body: unknown): string | Uint8Array =>
  typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body)

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolError(`the response is not JSON: ${text.slice(0, 100)}`, { cause })
  }
}

function retryAfterOf({ status, header }: TransportResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined
  const seconds = header('retry-after')
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined
}

async function statusErrorOf(response: TransportResponse): Promise<StatusError> {
  const { status } = response
  const text = await response.text().catch((thrown: unknown) => {
    if (thrown instanceof ProtocolError) return `the server responded with ${status}, and ${thrown.message}`
    throw thrown
  })
  try {
    const body = JSON.parse(text) as StatusBody
    if (typeof body === 'object' && body !== null && body.kind === 'Status') return new StatusError(body, status)
  } catch {
    // Plain text becomes the message.
  }
  return new StatusError(
    { code: status, reason: reasonOf(status), message: text.trim().slice(0, 1000) || `the server responded with ${status}` },
    status,
  )
}

const reasons: { readonly [status: number]: string } = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
}
const reasonOf = (status: number): string => reasons[status] ?? ''

/** Combines the caller's signal and the timeout of a request. */
class Deadline {
  readonly signal: AbortSignal | undefined
  private readonly timer: ReturnType<typeof setTimeout> | undefined
  private readonly timeoutMs: number | undefined
  private isExpired = false

  constructor({ signal, timeoutMs }: RequestOptions, defaultMs: number | undefined) {
    this.timeoutMs = timeoutMs ?? defaultMs
    if (this.timeoutMs === undefined) {
      this.signal = signal
      return
    }
    const controller = new AbortController()
    this.timer = setTimeout(() => {
      this.isExpired = true
      controller.abort()
    }, timerMs(this.timeoutMs))
    this.signal = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal])
  }

  explain(thrown: unknown): unknown {
    return this.isExpired ? new TimeoutError(`no response within ${this.timeoutMs} ms`) : thrown
  }

  clear(): void {
    clearTimeout(this.timer)
  }
}

/** Rejects with the abort reason of the signal. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const timer = setTimeout(() => {
      unsubscribe?.()
      resolve()
    }, timerMs(ms))
    const unsubscribe =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
  })
}

/** A value of the Warning header: warn-code, warn-agent and warn-text of RFC 7234. */
export interface Warning {
  readonly code: number
  readonly agent: string
  readonly text: string
}

/** Parses `299 - "a text", 299 - "another"` up to the first syntax error, in linear time. */
function readWarnings(bytes: string): readonly Warning[] {
  const header = decodeHeader(bytes)
  const warnings: Warning[] = []
  let offset = 0
  while (offset < header.length) {
    const codeEnd = header.indexOf(' ', offset)
    const agentEnd = codeEnd < 0 ? -1 : header.indexOf(' ', codeEnd + 1)
    if (agentEnd < 0 || header[agentEnd + 1] !== '"') return warnings
    const { text, end } = readQuoted(header, agentEnd + 2)
    const code = Number(header.slice(offset, codeEnd))
    if (Number.isInteger(code)) warnings.push({ code, agent: header.slice(codeEnd + 1, agentEnd), text })
    const comma = header.indexOf(',', end)
    if (comma < 0) return warnings
    offset = comma + 1
    while (header[offset] === ' ') offset++
  }
  return warnings
}

function readQuoted(header: string, start: number): { readonly text: string; readonly end: number } {
  let text = ''
  let offset = start
  for (; offset < header.length && header[offset] !== '"'; offset++) {
    if (header[offset] === '\\') offset++
    text += header[offset] ?? ''
  }
  return { text, end: offset + 1 }
}
