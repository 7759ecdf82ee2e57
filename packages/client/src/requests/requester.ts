// From what a caller wants to what is sent, and from what comes back to a value or an error: credentials, impersonation, warnings, retries.

import { timerMs } from '../base/clock.js'
import { onAbort } from '../base/on-abort.js'
import { unlessAborted } from '../base/unless-aborted.js'
import {
  ConnectionError,
  isClientError,
  isUnauthorized,
  isVersionTooLarge,
  ProtocolError,
  type StatusAnswer,
  StatusError,
  TimeoutError,
} from './errors.js'
import { checkImpersonation, type Impersonation, impersonationHeaders } from './impersonation.js'
import { type Query, queryText, type RequestOptions } from './query.js'
import type { Credential, CredentialSource, MessageSocket, Transport, TransportRequest, TransportResponse } from './transport.js'
import { readWarnings, type Warning } from './warnings.js'

export interface RequesterSettings {
  readonly transport: Transport
  readonly credentials?: CredentialSource | undefined
  readonly impersonate?: Impersonation | undefined
  /** Called for each warning that comes with an answer. */
  readonly onWarning?: ((warning: Warning) => void) | undefined
  /** How often a request that was turned away for a while (429, 503 with a time to wait) is sent again; by default 10 times. */
  readonly retries?: number | undefined
  readonly userAgent?: string | undefined
  /** For every request that has none of its own; watches and connections have none. */
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

const json = 'application/json'
const mostRetries = 10
/** For a version that the server has not seen: it waited for it each time, and one that lies behind others by so much has a reason for it. */
const versionRetries = 2
const longestWaitSeconds = 60
const noCredential: Credential = {}

export class Requester {
  readonly settings: RequesterSettings

  constructor(settings: RequesterSettings) {
    if (settings.impersonate !== undefined) checkImpersonation(settings.impersonate)
    this.settings = settings
  }

  /** The answer as JSON. */
  json<T>(request: ApiRequest): Promise<T> {
    return this.within(request, async (response) => parseJson(await response.text()) as T)
  }

  text(request: ApiRequest): Promise<string> {
    return this.within(request, (response) => response.text())
  }

  /** What others wait for as well, for as long as this caller would wait for an answer. */
  async shared<T>(work: Promise<T>, options: RequestOptions): Promise<T> {
    const deadline = new Deadline(options, this.settings.timeoutMs)
    try {
      return await unlessAborted(work, deadline.signal)
    } catch (thrown) {
      throw deadline.explain(thrown)
    } finally {
      deadline.clear()
    }
  }

  /** What `read` makes of the answer, within the time that the request has. */
  async within<T>(request: ApiRequest, read: (response: TransportResponse) => Promise<T>): Promise<T> {
    const deadline = new Deadline(request, this.settings.timeoutMs)
    try {
      return await read(await this.send(request, deadline.signal))
    } catch (thrown) {
      throw deadline.explain(thrown)
    } finally {
      deadline.clear()
    }
  }

  /** The answer once its head is there and says success; its body is read by the caller. */
  async send(request: ApiRequest, signal: AbortSignal | undefined = request.signal): Promise<TransportResponse> {
    const { transport, retries = mostRetries } = this.settings
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
        // Not followed: what is sent, and in whose name, is for this server only.
        response.discard()
        throw new ProtocolError(`the server answered ${response.status}: redirects are not followed`)
      }
      if (response.status === 401 && this.settings.credentials?.refuse?.(credential) === true && !hasNewCredential) {
        response.discard()
        hasNewCredential = true
        continue
      }
      const waitSeconds = waitOf(response)
      if (waitSeconds === undefined || attempt >= retries) throw await errorOf(response)
      if (response.status === 504 && attempt >= versionRetries) {
        const error = await errorOf(response)
        if (isVersionTooLarge(error)) throw error
      } else response.discard()
      await sleep(Math.min(waitSeconds, longestWaitSeconds) * 1000, signal)
    }
  }

  /** A connection that carries messages both ways. */
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
        if (!isFirst || !isUnauthorized(thrown) || this.settings.credentials?.refuse?.(credential) !== true) throw thrown
      }
    }
  }

  /** Who the client is, for who sends a request of his own. */
  async identify(signal?: AbortSignal): Promise<{ readonly headers: TransportRequest['headers']; readonly credential: Credential }> {
    const credential = await this.credential(signal)
    return { headers: this.identityHeaders(credential), credential }
  }

  private async credential(signal: AbortSignal | undefined): Promise<Credential> {
    return this.settings.credentials?.current(signal) ?? noCredential
  }

  private headers(request: ApiRequest, credential: Credential): TransportRequest['headers'] {
    return {
      accept: request.accept ?? json,
      ...(request.body === undefined ? {} : { 'content-type': request.contentType ?? json }),
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

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProtocolError(`the answer is no JSON: ${text.slice(0, 100)}`, { cause })
  }
}

/** How long to wait before the request may be sent again; undefined where it is not to be. */
function waitOf({ status, header }: TransportResponse): number | undefined {
  if (status !== 429 && status < 500) return undefined
  const seconds = header('retry-after')
  return /^\d{1,6}$/.test(seconds) ? Number(seconds) : undefined
}

async function errorOf(response: TransportResponse): Promise<StatusError> {
  const { status } = response
  const text = await response.text().catch((thrown: unknown) => {
    // Too long: the status alone says what to do.
    if (thrown instanceof ProtocolError) return `the server answered ${status}, and ${thrown.message}`
    throw thrown
  })
  try {
    const body = JSON.parse(text) as StatusAnswer
    if (typeof body === 'object' && body !== null && body.kind === 'Status') return new StatusError(body, status)
  } catch {
    // It is a text, which is told as it is.
  }
  return new StatusError(
    { code: status, reason: reasonOf(status), message: text.trim().slice(0, 1000) || `the server answered ${status}` },
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

/** The signal of the caller and the time that a request may take, as one signal; made only where there is a time. */
class Deadline {
  readonly signal: AbortSignal | undefined
  private readonly timer: ReturnType<typeof setTimeout> | undefined
  private readonly timeoutMs: number | undefined
  private isOver = false

  constructor({ signal, timeoutMs }: RequestOptions, usualMs: number | undefined) {
    this.timeoutMs = timeoutMs ?? usualMs
    if (this.timeoutMs === undefined) {
      this.signal = signal
      return
    }
    const controller = new AbortController()
    this.timer = setTimeout(() => {
      this.isOver = true
      controller.abort()
    }, timerMs(this.timeoutMs))
    this.signal = signal === undefined ? controller.signal : AbortSignal.any([signal, controller.signal])
  }

  explain(thrown: unknown): unknown {
    return this.isOver ? new TimeoutError(`no answer within ${this.timeoutMs} ms`) : thrown
  }

  clear(): void {
    clearTimeout(this.timer)
  }
}

/** Rejects with the reason of the signal when it is aborted. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) return reject(signal.reason)
    const timer = setTimeout(() => {
      leave?.()
      resolve()
    }, timerMs(ms))
    const leave =
      signal &&
      onAbort(signal, () => {
        clearTimeout(timer)
        reject(signal.reason)
      })
  })
}

/** What a transport throws: the reason of an abort and errors of this library as they are, everything else as a ConnectionError. */
export function connectionError(thrown: unknown, where: string, signal: AbortSignal | undefined): unknown {
  if (signal?.aborted === true) return signal.reason
  if (isClientError(thrown)) return thrown
  return new ConnectionError(`${where}: ${thrown instanceof Error ? thrown.message : String(thrown)}`, thrown)
}
