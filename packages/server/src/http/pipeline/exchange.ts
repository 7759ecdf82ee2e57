// One HTTP request and its response, with the state that the filters add: user, authorization decision, audit record, deadline.

import { setMaxListeners } from 'node:events'
import type { IncomingHttpHeaders } from 'node:http'
import type { TLSSocket } from 'node:tls'
import { type ApiError, requestTimedOut } from '@cluster-apiserver/api/api/api-error.js'
import type { AddLatency, AnnotationLevel, Caller, LatencyLayer } from '@cluster-apiserver/api/api/call.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import { anonymous, type User } from '@cluster-apiserver/api/api/user.js'
import { decodeHeader } from '@cluster-apiserver/api/base/text/header-encoding.js'
import type { AuditRecord } from '../../audit/audit-record.js'
import type { Credentials } from '../../auth/authenticate.js'
import type { AccessRequest, Decision } from '../../auth/authorize.js'
import type { LimitedRequest } from '../../flow-control/max-in-flight.js'
import type { MemoryPressure } from '../../flow-control/memory-pressure.js'
import type { CompiledFlowSchema } from '../../flow-control/priority-and-fairness/compiled-flow-schema.js'
import type { SeatedRequest, Seating } from '../../flow-control/priority-and-fairness/priority-and-fairness.js'
import type { HttpRequest, HttpResponse } from '../../net/listen/http-messages.js'
import { type PeerCertificate, peerCertificateOf } from '../../net/tls/peer-certificate.js'
import { Warnings } from './warnings.js'

const http2InternalError = 2

const noWarnings: readonly string[] = []
const noAnnotations: readonly Annotation[] = []
const noLatencies: ReadonlyMap<LatencyLayer, number> = new Map()

interface Annotation {
  readonly key: string
  readonly value: string
  /** Lowest audit level whose events contain the annotation. */
  readonly atLeast: AnnotationLevel
}

export type LifecycleStage = 'received' | 'authenticated' | 'delegated' | 'responseStarted' | 'responseComplete'

/** Implemented by the request listener. */
export interface LifecycleNotifier {
  notify(stage: LifecycleStage, exchange: Exchange): void
  panic(exchange: Exchange, thrown: unknown): void
  complete(exchange: Exchange): void
}

export class Exchange implements Caller, Credentials, AccessRequest, SeatedRequest, LimitedRequest {
  readonly request: HttpRequest
  readonly response: HttpResponse
  readonly info: RequestInfo
  private servedCatalog: Catalog
  /** Arrival, in milliseconds since 1970. */
  readonly now: number
  /** Arrival, by performance.now(). */
  readonly begunMs = performance.now()
  readonly auditId: string
  user: User = anonymous
  originalUser: User | undefined = undefined
  decision: Decision | undefined = undefined
  /** True for watches, logs and proxied connections, which have no deadline. */
  isLongRunning = false
  hasReadIndex = false
  /** The client's `timeout` parameter. The server's timeout applies as well. */
  timeoutMs: number | undefined = undefined
  flowSchema: CompiledFlowSchema | undefined = undefined
  seating: Seating | undefined = undefined
  seatedMs = 0
  counted: 'readOnly' | 'mutating' | undefined = undefined
  isLimited = false
  /** Set for a deprecated API version: the release that removes the version, or empty if unknown. */
  removedRelease: string | undefined = undefined
  /** null: not audited; undefined: not decided yet. */
  audited: AuditRecord | null | undefined = undefined
  /** Status of a request that was refused before auditing was decided; only a message if the client does not accept the response. */
  refusal: { readonly [key: string]: unknown } | undefined = undefined
  bodyBytes = 0
  /** Set while the body is read. */
  bodyReader: { stop(reason: unknown): void } | undefined = undefined
  /** Called with the body once it is read; undefined unless a test kit keeps bodies. */
  onBody: ((body: Buffer) => void) | undefined = undefined
  sentBytes = 0
  isCut = false
  readonly lifecycle: LifecycleNotifier
  private readonly pressure: MemoryPressure
  private foundResource: Resource | undefined | null = null
  private collectedWarnings: Warnings | undefined
  private token: string | undefined
  private closeCallbacks: (() => void)[] | undefined
  private abortController: AbortController | undefined
  private timeoutError: ApiError | undefined
  private abortListeners: Set<(reason: unknown) => void> | undefined
  private annotationsByKey: Map<string, Annotation> | undefined
  private latencies: Map<LatencyLayer, number> | undefined

  constructor(input: {
    readonly request: HttpRequest
    readonly response: HttpResponse
    readonly info: RequestInfo
    readonly catalog: Catalog
    readonly now: number
    readonly auditId: string
    readonly pressure: MemoryPressure
    readonly lifecycle: LifecycleNotifier
  }) {
    this.request = input.request
    this.response = input.response
    this.info = input.info
    this.servedCatalog = input.catalog
    this.now = input.now
    this.auditId = input.auditId
    this.pressure = input.pressure
    this.lifecycle = input.lifecycle
  }

  /** True once the response has ended or the client has disconnected. */
  get isClosed(): boolean {
    const { response } = this
    return 'assignSocket' in response ? response.destroyed : response.stream.destroyed
  }

  get catalog(): Catalog {
    return this.servedCatalog
  }

  /** For filters that wait for changes; all later filters see the new catalog. */
  replaceCatalog(catalog: Catalog): void {
    this.servedCatalog = catalog
    this.foundResource = null
  }

  /** Undefined for paths of no served resource. */
  get resource(): Resource | undefined {
    const { group, version, resource } = this.info
    if (this.foundResource === null) this.foundResource = this.info.isResource ? this.catalog.find(group, version, resource) : undefined
    return this.foundResource
  }

  /** Parsed on first use. */
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
    if (this.abortController !== undefined) return this.abortController.signal
    const controller = new AbortController()
    // A deletecollection adds a listener for each object.
    setMaxListeners(0, controller.signal)
    this.abortController = controller
    if (this.timeoutError !== undefined) controller.abort(this.timeoutError)
    // A client that disconnects after its response aborts nothing.
    else this.onClose(() => this.response.writableEnded || controller.abort(requestTimedOut()))
    return controller.signal
  }

  throwIfAborted(): void {
    if (this.timeoutError !== undefined) throw this.timeoutError
    if (this.isClosed) throw requestTimedOut()
  }

  /** Calls the listener at once if the request has timed out or is closed. */
  readonly onAbort = (listener: (reason: unknown) => void): (() => void) => {
    if (this.timeoutError !== undefined || this.isClosed) {
      listener(this.timeoutError ?? requestTimedOut())
      return () => undefined
    }
    if (this.abortListeners === undefined) {
      this.abortListeners = new Set()
      this.onClose(() => this.response.writableEnded || this.notifyAborted(requestTimedOut()))
    }
    const listeners = this.abortListeners
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  private notifyAborted(reason: unknown): void {
    const listeners = [...(this.abortListeners ?? [])]
    this.abortListeners?.clear()
    for (const listener of listeners) listener(reason)
  }

  get deadlineMs(): number | undefined {
    return this.timeoutMs === undefined ? undefined : this.begunMs + this.timeoutMs
  }

  get isTimedOut(): boolean {
    return this.timeoutError !== undefined
  }

  /** Aborts all work for this request. */
  timeOut(): ApiError {
    this.timeoutError ??= requestTimedOut()
    this.bodyReader?.stop(this.timeoutError)
    this.abortController?.abort(this.timeoutError)
    this.notifyAborted(this.timeoutError)
    return this.timeoutError
  }

  get annotations(): Iterable<Annotation> {
    return this.annotationsByKey === undefined ? noAnnotations : this.annotationsByKey.values()
  }

  readonly annotate = (key: string, value: string, atLeast: AnnotationLevel = 'Metadata'): void => {
    if (this.audited === null) return
    this.annotationsByKey ??= new Map()
    if (!this.annotationsByKey.has(key)) this.annotationsByKey.set(key, { key, value, atLeast })
  }

  get addLatency(): AddLatency | undefined {
    return this.audited ? this.recordLatency : undefined
  }

  private readonly recordLatency: AddLatency = (layer, ms) => {
    this.latencies ??= new Map()
    const before = this.latencies.get(layer) ?? 0
    // Validating webhooks are called at the same time.
    this.latencies.set(layer, layer === 'validating-webhook' ? Math.max(before, ms) : before + ms)
  }

  get layerLatencies(): ReadonlyMap<LatencyLayer, number> {
    return this.latencies ?? noLatencies
  }

  /** Breaks the response off, so that the client does not take it for complete. */
  cut(): void {
    this.isCut = true
    const { response } = this
    if ('assignSocket' in response) response.destroy()
    else response.stream.close(http2InternalError)
  }

  /** Charges body bytes to the user's memory. Throws an OverloadedError beyond the limit. */
  chargeBody(bytes: number): void {
    this.pressure.addBody(this.user.name, bytes)
    this.bodyBytes += bytes
  }

  /** Charges the response to the user's memory until it is closed. */
  chargeResponse(bytes: number): void {
    this.onClose(this.pressure.addResponse(this.user.name, this, bytes))
  }

  releaseBody(): void {
    if (this.bodyBytes === 0) return
    this.pressure.releaseBody(this.user.name, this.bodyBytes)
    this.bodyBytes = 0
  }

  get warnings(): Iterable<string> {
    return this.collectedWarnings === undefined ? noWarnings : this.collectedWarnings.texts
  }

  /** Adds a `Warning` header; each text is sent once. */
  readonly warn = (text: string): void => {
    this.collectedWarnings ??= new Warnings()
    this.collectedWarnings.add(text)
  }

  header(name: string): string {
    const value = this.request.headers[name]
    return value === undefined ? '' : typeof value === 'string' ? value : value.join(', ')
  }

  /** Frees the headers of a watch, up to 64 KiB; later only the user agent is needed. */
  dropHeaders(): void {
    const { headers, rawHeaders } = this.request
    for (const name of Object.keys(headers)) if (name !== 'user-agent') delete headers[name]
    rawHeaders.length = 0
    this.token = undefined
  }

  /** Runs the callback once, when the response is written or the client has disconnected: before the client can send its next request. */
  onEnd(callback: () => void): void {
    let isEnded = false
    const end = (): void => {
      if (isEnded) return
      isEnded = true
      callback()
    }
    // HTTP/1.1 emits 'prefinish' before the last chunk is sent; HTTP/2 emits 'finish' once it is.
    this.response.once('prefinish', end)
    this.response.once('finish', end)
    this.onClose(end)
  }

  /** Runs the callback when the response has ended or the client has disconnected; at once if that has happened. */
  onClose(callback: () => void): void {
    if (this.isClosed) {
      callback()
      return
    }
    if (this.closeCallbacks === undefined) {
      const callbacks: (() => void)[] = []
      this.closeCallbacks = callbacks
      this.response.once('close', () => {
        for (const run of callbacks) run()
      })
    }
    this.closeCallbacks.push(callback)
  }
}

/** The rest of the header is the token: it may contain spaces, and bytes beyond ASCII, as Latin-1 here. */
function bearerOf({ request, warn }: Exchange): string {
  const header = request.headers.authorization
  if (header === undefined || header.slice(0, bearerPrefix.length).toLowerCase() !== bearerPrefix) return ''
  const token = trimBlanks(header.slice(bearerPrefix.length))
  if (token === '' || header[bearerPrefix.length] !== ' ') return token
  warn('the provided Authorization header contains extra space before the bearer token, and is ignored')
  return ''
}

/** Not `trim`, which also removes the byte A0, the end of some UTF-8 characters. */
function trimBlanks(text: string): string {
  let end = text.length
  while (end > 0 && (text[end - 1] === ' ' || text[end - 1] === '\t')) end--
  return text.slice(0, end)
}

const bearerPrefix = 'bearer '
