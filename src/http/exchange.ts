// One request on its way through the pipeline, with what the filters found out about it.

import { setMaxListeners } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { TLSSocket } from 'node:tls'
import { type ApiError, requestTimedOut } from '../api/api-error.js'
import type { AnnotationLevel, Caller } from '../api/call.js'
import type { Catalog } from '../api/catalog.js'
import type { RequestInfo } from '../api/request-info.js'
import { anonymous, type User } from '../api/user.js'
import type { AuditRecord } from '../audit/record.js'
import type { Credentials } from '../auth/authenticate.js'
import type { AccessRequest, Decision } from '../auth/authorize.js'
import { decodeHeader } from '../base/header-text.js'
import { type PeerCertificate, peerCertificateOf } from '../net/peer-certificate.js'
import type { Flow } from './flow/flow.js'
import type { Seating } from './flow/flow-control.js'
import type { Lifecycle } from './lifecycle.js'
import type { Pressure } from './pressure.js'
import { Warnings } from './warnings.js'

/** A code of HTTP/2. */
const http2InternalError = 2

export type WireRequest = IncomingMessage | Http2ServerRequest
export type WireResponse = ServerResponse | Http2ServerResponse

const noWarnings: readonly string[] = []
const noAnnotations: readonly Annotation[] = []

export interface Annotation {
  readonly key: string
  readonly value: string
  /** How much the audit log must tell for it to be in it. */
  readonly atLeast: AnnotationLevel
}

export class Exchange implements Caller, Credentials, AccessRequest {
  readonly request: WireRequest
  readonly response: WireResponse
  readonly info: RequestInfo
  /** What was served when it came, whatever happens meanwhile. */
  readonly catalog: Catalog
  /** The time of day at which it came. */
  readonly now: number
  /** The same moment for measuring, in terms of performance.now(). */
  readonly begunMs = performance.now()
  readonly auditId: string
  user: User = anonymous
  /** Who sent it, where that is somebody else than the user as whom it acts. */
  originalUser: User | undefined = undefined
  /** What authorization said; undefined before it was asked. */
  decision: Decision | undefined = undefined
  /** Set for watches: they are not counted as requests in flight, and have no deadline. */
  isLongRunning = false
  /** How long the client gives for the answer; undefined: as long as the server does. */
  timeoutMs: number | undefined = undefined
  /** Which flow schema took it; undefined: nobody asked, or it is not limited by any. */
  flow: Flow | undefined = undefined
  /** The part of its priority level that it has now, and since when. */
  seated: Seating | undefined = undefined
  seatedMs = 0
  /** Which of the two limits on requests in flight this one counts towards. */
  counted: 'readOnly' | 'mutating' | undefined = undefined
  /** False for administrators, who are counted and not limited. */
  isLimited = false
  /** Set when a version was asked for that will go: the release without it, empty where that is not known. */
  removedRelease: string | undefined = undefined
  /** What the audit log will say of it; null: nothing; undefined: not yet known, or nothing is audited. */
  audited: AuditRecord | null | undefined = undefined
  /** How much of a body is held for this one. */
  bodyBytes = 0
  /** Who waits for the rest of the body: Node tells nobody of a client of HTTP/1.1 that goes after it was answered. */
  bodyReader: { stop(reason: unknown): void } | undefined = undefined
  /** How much of an answer was written. */
  sentBytes = 0
  /** Whether the answer was ended before it was complete. */
  isCut = false
  /** Who is told how far it has come. */
  readonly lifecycle: Lifecycle
  private readonly pressure: Pressure
  private said: Warnings | undefined
  private token: string | undefined
  private leaving: (() => void)[] | undefined
  private abortion: AbortController | undefined
  private timeout: ApiError | undefined
  private aborting: Set<(reason: unknown) => void> | undefined
  private annotated: Map<string, Annotation> | undefined

  constructor(input: {
    readonly request: WireRequest
    readonly response: WireResponse
    readonly info: RequestInfo
    readonly catalog: Catalog
    readonly now: number
    readonly auditId: string
    readonly pressure: Pressure
    readonly lifecycle: Lifecycle
  }) {
    this.request = input.request
    this.response = input.response
    this.info = input.info
    this.catalog = input.catalog
    this.now = input.now
    this.auditId = input.auditId
    this.pressure = input.pressure
    this.lifecycle = input.lifecycle
  }

  /** Whether nobody is there any more to be answered. */
  get isGone(): boolean {
    const { response } = this
    return 'assignSocket' in response ? response.destroyed : response.stream.destroyed
  }

  /** Read once, and only where somebody asks. */
  get bearerToken(): string {
    this.token ??= bearerOf(this)
    return this.token
  }

  get headers(): IncomingHttpHeaders {
    return this.request.headers
  }

  get rawHeaders(): readonly string[] {
    return this.request.rawHeaders
  }

  get certificate(): PeerCertificate | undefined {
    const { request } = this
    if (!('stream' in request)) return peerCertificateOf(request.socket, request.socket as TLSSocket)
    const { session } = request.stream
    return session === undefined ? undefined : peerCertificateOf(session, session.socket as TLSSocket)
  }

  get connection(): object | undefined {
    const { request } = this
    return 'stream' in request ? request.stream.session : request.socket
  }

  get remoteAddress(): string {
    return this.request.socket.remoteAddress ?? ''
  }

  get userAgent(): string {
    return decodeHeader(this.header('user-agent'))
  }

  get signal(): AbortSignal {
    if (this.abortion !== undefined) return this.abortion.signal
    const abortion = new AbortController()
    // All that is done at the same time for one request, such as the deletion of a collection, listens to it: that is no leak.
    setMaxListeners(0, abortion.signal)
    this.abortion = abortion
    if (this.timeout !== undefined) abortion.abort(this.timeout)
    // Whoever has been answered is not waited for any more, and nothing waits for them.
    else this.onLeave(() => this.response.writableEnded || abortion.abort(requestTimedOut()))
    return abortion.signal
  }

  throwIfAborted(): void {
    if (this.timeout !== undefined) throw this.timeout
    if (this.isGone) throw requestTimedOut()
  }

  /** Whoever listens when it is over already is told at once. */
  readonly onAbort = (listener: (reason: unknown) => void): (() => void) => {
    if (this.timeout !== undefined || this.isGone) {
      listener(this.timeout ?? requestTimedOut())
      return () => undefined
    }
    if (this.aborting === undefined) {
      this.aborting = new Set()
      this.onLeave(() => this.response.writableEnded || this.tellAborted(requestTimedOut()))
    }
    const listeners = this.aborting
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  private tellAborted(reason: unknown): void {
    const listeners = [...(this.aborting ?? [])]
    this.aborting?.clear()
    for (const listener of listeners) listener(reason)
  }

  get deadlineMs(): number | undefined {
    return this.timeoutMs === undefined ? undefined : this.begunMs + this.timeoutMs
  }

  get isTimedOut(): boolean {
    return this.timeout !== undefined
  }

  /** The time is up: whatever is still done for this request stops. */
  timeOut(): ApiError {
    this.timeout ??= requestTimedOut()
    this.bodyReader?.stop(this.timeout)
    this.abortion?.abort(this.timeout)
    this.tellAborted(this.timeout)
    return this.timeout
  }

  /** What the audit log shall say of it. */
  get annotations(): Iterable<Annotation> {
    return this.annotated === undefined ? noAnnotations : this.annotated.values()
  }

  readonly annotate = (key: string, value: string, atLeast: AnnotationLevel = 'Metadata'): void => {
    if (this.audited === null) return
    this.annotated ??= new Map()
    if (!this.annotated.has(key)) this.annotated.set(key, { key, value, atLeast })
  }

  /** Ends an answer that cannot be completed so that its client sees the difference: an HTTP/2 stream that just ends looks whole. */
  cut(): void {
    this.isCut = true
    const { response } = this
    if ('assignSocket' in response) response.destroy()
    else response.stream.close(http2InternalError)
  }

  /** A part of the body has come; throws when there is no room for it. */
  holdBody(bytes: number): void {
    this.pressure.addBody(bytes)
    this.bodyBytes += bytes
  }

  /** An answer that is large enough to count. */
  holdAnswer(bytes: number): void {
    this.onLeave(this.pressure.holdAnswer(this, bytes))
  }

  /** The request has been dealt with. */
  releaseBody(): void {
    if (this.bodyBytes === 0) return
    this.pressure.releaseBody(this.bodyBytes)
    this.bodyBytes = 0
  }

  get warnings(): Iterable<string> {
    return this.said === undefined ? noWarnings : this.said.texts
  }

  /** A text for a `Warning` header; the same one is said once. */
  readonly warn = (text: string): void => {
    this.said ??= new Warnings()
    this.said.add(text)
  }

  header(name: string): string {
    const value = this.request.headers[name]
    return value === undefined ? '' : typeof value === 'string' ? value : value.join(', ')
  }

  /** Of the headers of what lasts, which may have 64 KiB, only the name of the client's program is asked for again. */
  forgetHeaders(): void {
    const { headers, rawHeaders } = this.request
    for (const name of Object.keys(headers)) if (name !== 'user-agent') delete headers[name]
    rawHeaders.length = 0
    this.token = undefined
  }

  /** Runs once, when the last of the response was handed on or the client has gone: before its client can ask for more. */
  onEnd(callback: () => void): void {
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      callback()
    }
    // Of HTTP/1.1, before the last of it is sent; of HTTP/2, as soon as it is.
    this.response.once('prefinish', end)
    this.response.once('finish', end)
    this.onLeave(end)
  }

  /** Runs when the response has ended or the client has gone, whichever comes first. */
  onLeave(callback: () => void): void {
    if (this.isGone) {
      callback()
      return
    }
    if (this.leaving === undefined) {
      const callbacks: (() => void)[] = []
      this.leaving = callbacks
      this.response.once('close', () => {
        for (const leave of callbacks) leave()
      })
    }
    this.leaving.push(callback)
  }
}

/** One space stands before the token, and what comes after another one does not count. */
function bearerOf({ request, warn }: Exchange): string {
  const header = request.headers.authorization?.trim()
  if (header === undefined || header.slice(0, scheme.length).toLowerCase() !== scheme) return ''
  const end = header.indexOf(' ', scheme.length)
  const token = end < 0 ? header.slice(scheme.length) : header.slice(scheme.length, end)
  if (token === '' && header.lastIndexOf(' ') === end)
    warn('the provided Authorization header contains extra space before the bearer token, and is ignored')
  return token
}

const scheme = 'bearer '
