// The TLS port: passes connections to an HTTP/1.1 or an HTTP/2 server, by ALPN. An HTTP/2 server with `allowHTTP1` would serve both,
// but has no limits on headers, keep-alive and slow requests of HTTP/1.1.

import { constants } from 'node:crypto'
import { createServer as createHttp1, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Http2Server, Http2ServerRequest } from 'node:http2'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { SecureContext } from 'node:tls'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import { type Logger, silentLogger } from '@cluster-apiserver/api/base/logger.js'
import type { KeyPair } from '../tls/issue-certificate.js'
import type { TlsVersion } from '../tls/tls-versions-and-ciphers.js'
import { type AcceptLimits, AcceptQueue } from './accept-queue.js'
import type { ConnectionSource } from './connection-source.js'
import { FairRequestQueue } from './fair-request-queue.js'
import type { HttpRequest, RequestListener } from './http-messages.js'
import { Http2Sessions, type SessionLimits, socketUnder } from './http2-sessions.js'
import { type Endpoint, ListenError } from './listen-error.js'
import { refuseMethod, respondToParseError, type UnknownMethodResponse } from './parse-errors.js'
import { limitUnreadBody } from './request-body-limits.js'
import { StalledConnections } from './stalled-connections.js'
import { TlsHandshakes } from './tls-handshakes.js'
import { createUpgradeResponse, hasBody, requestWithoutUpgrade } from './upgrade.js'

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly certificate: KeyPair
  /** Handshakes of another port with the same options; default: new ones. */
  readonly handshakes?: TlsHandshakes | undefined
  /** PEM; if set, client certificates are requested, but not required. */
  readonly clientCa?: string | undefined
  readonly minVersion?: TlsVersion | undefined
  readonly ciphers?: string | undefined
  /** The certificate for a server name; undefined: the default one. */
  readonly namedCertificate?: ((servername: string) => SecureContext | undefined) | undefined
  /** The port is open in another process, which hands its connections over. */
  readonly source?: ConnectionSource | undefined
  /** Other processes may listen on the same port (--permit-port-sharing). */
  readonly sharesPort?: boolean
  readonly limits?: Partial<ListenLimits>
  /** True for paths with priority, such as health probes. */
  readonly isUrgent?: (path: string) => boolean
  readonly onHandshakeError?: () => void
  readonly logger?: Logger
  readonly unknownMethod?: UnknownMethodResponse
}

interface ListenLimits extends AcceptLimits, SessionLimits {
  /** Decoded size of request line, header names and values. */
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
  readonly handshakeMs: number
  /** Maximum time from the first byte of a request to the end of its headers. */
  readonly headersMs: number
  /** Maximum time from the first byte of a request to the end of its body. */
  readonly requestMs: number
  /** Time after which a client that reads nothing is disconnected. */
  readonly stallMs: number
  readonly http2Streams: number
}

const defaultLimits: ListenLimits = {
  maxConnections: 10_000,
  // Behind a load balancer all connections have the same address.
  maxConnectionsPerAddress: 10_000,
  maxHandshakes: 128,
  maxHeaderBytes: 64 << 10,
  maxHeaders: 256,
  handshakeMs: 10_000,
  headersMs: 32_000,
  requestMs: 120_000,
  idleMs: 90_000,
  stallMs: 60_000,
  http2Streams: 250,
  goawayChance: 0,
}

export interface Listener {
  readonly address: string
  readonly port: number
  readonly handshakes: TlsHandshakes
  /** Applies to new connections. Throws if key and certificate do not match. */
  setCertificate(certificate: KeyPair): void
  /** Applies to new connections; only if `clientCa` was set from the start. */
  setClientCa(clientCa: string): void
  /** Graceful shutdown: refuses new connections, waits for open requests, and cuts off the rest after `graceMs`. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

export async function listen(options: ListenOptions, serve: RequestListener): Promise<Listener> {
  const limits: ListenLimits = { ...defaultLimits, ...options.limits }
  const logger = options.logger ?? silentLogger
  let { certificate: currentCertificate, clientCa } = options
  const queue = new FairRequestQueue()
  const isUrgent = ({ url = '' }: HttpRequest): boolean => options.isUrgent?.(url) ?? false
  const stalled = new StalledConnections(limits)
  const http1 = serveHttp1({ limits, queue, isUrgent, serve, unknownMethod: options.unknownMethod })
  const createHttp2 = (): Http2Server => {
    const http2 = process.getBuiltinModule('node:http2').createServer(http2Options(limits), (request, response) => {
      const { session } = request.stream
      const socket = socketUnder(request)
      if (session === undefined || socket === undefined) return
      if (!request.stream.endAfterHeaders) closeUnread(request)
      const begin = (): unknown => request.stream.destroyed || serve(request, response)
      queue.run({ connection: session, socket, begin, isUrgent: isUrgent(request) })
    })
    return http2.on('sessionError', (error: Error) => logger.debug({ error: error.message }, 'HTTP/2 connection error'))
  }
  const sessions = new Http2Sessions(createHttp2, limits)
  const tls =
    options.handshakes ??
    new TlsHandshakes({
      ...tlsOptions(options, currentCertificate),
      ALPNProtocols: ['h2', 'http/1.1'],
      handshakeTimeout: limits.handshakeMs,
    })
  const accepts = new AcceptQueue(limits, (socket) => tls.begin(socket))
  const { source } = options
  const { address, port } = source ?? (await open(accepts.server, options, options.sharesPort ?? false))
  const removePort = tls.add(port, {
    onSecure: (socket) => {
      const received = accepts.finishHandshake(socket)
      if (socket.alpnProtocol === 'h2') {
        sessions.accept(socket, received)
        return
      }
      stalled.watch(socket)
      http1.accept(socket)
    },
    onError: () => options.onHandshakeError?.(),
  })
  accepts.server.on('error', (error) => logger.error({ error: error.message }, 'listener error'))
  source?.begin((socket) => accepts.accept(socket))
  return {
    address,
    port,
    setCertificate: (certificate) => {
      tls.setContext(tlsOptions({ ...options, clientCa }, certificate))
      currentCertificate = certificate
    },
    setClientCa: (pem) => {
      clientCa = pem
      tls.setContext(tlsOptions({ ...options, clientCa }, currentCertificate))
    },
    handshakes: tls,
    close: ({ graceMs = 0 } = {}) =>
      drain({ accepts, http1, sessions, graceMs, source }).finally(() => {
        removePort()
        stalled.close()
      }),
  }
}

interface Http1 {
  accept(socket: Socket): void
  closeIdle(): void
  close(): void
}

interface Http1Parts {
  readonly limits: ListenLimits
  readonly queue: FairRequestQueue
  readonly isUrgent: (request: HttpRequest) => boolean
  readonly serve: RequestListener
  readonly unknownMethod: UnknownMethodResponse | undefined
}

function serveHttp1({ limits, queue, isUrgent, serve, unknownMethod }: Http1Parts): Http1 {
  /** Connections without a request yet, which Node.js does not count as idle. */
  const unused = new Set<Socket>()
  /** Connections that speak another protocol now. */
  const upgraded = new Set<Socket>()
  /** `Upgrade` headers of requests that are parsed again. */
  const removedUpgrades = new WeakMap<Socket, string>()
  const responses = new PipelinedResponses()
  const http1 = createHttp1(http1Options(limits), (request, response) => {
    const { socket } = request
    const upgrade = removedUpgrades.get(socket)
    if (upgrade !== undefined) request.rawHeaders.push('Upgrade', upgrade)
    removedUpgrades.delete(socket)
    unused.delete(socket)
    responses.track(socket, response)
    limitUnreadBody(request, response)
    if (refuseInvalid(request, response, limits)) return
    const begin = (): unknown => response.destroyed || serve(request, response)
    queue.run({ connection: socket, socket, begin, response, isUrgent: isUrgent(request) })
  })
  http1.on('upgrade', (request, socket: Socket, head) => {
    unused.delete(socket)
    socket.off('data', ignore)
    responses.afterLast(socket, () => {
      if (hasBody(request)) {
        // An upgrade request with a body is parsed again as an ordinary request.
        removedUpgrades.set(socket, request.headers.upgrade ?? '')
        socket.unshift(requestWithoutUpgrade(request, head))
        http1.emit('connection', socket)
        return
      }
      const response = createUpgradeResponse(socket, request, head, () => {
        upgraded.add(socket)
        socket.once('close', () => upgraded.delete(socket))
      })
      if (!refuseInvalid(request, response, limits)) queue.run({ connection: socket, socket, begin: () => serve(request, response) })
    })
  })
  http1.on('clientError', (error, socket) =>
    respondToParseError(error, socket as Socket, { openResponse: responses.openOn(socket as Socket), unknownMethod }),
  )
  http1.on('connect', (_request, socket) => responses.afterLast(socket as Socket, () => refuseMethod(socket as Socket, unknownMethod)))
  // No limit, because Node.js would drop further headers silently; `refuseInvalid` counts them.
  http1.maxHeadersCount = 0
  // Starts the checks of headersTimeout and requestTimeout, which need a listening server.
  http1.emit('listening')
  return {
    accept: (socket) => {
      unused.add(socket)
      socket.once('close', () => unused.delete(socket))
      http1.emit('connection', socket)
      // With a listener the socket is read as a stream. Otherwise Node.js passes TLS records directly to its HTTP parser, also while
      // it has paused the parser because an earlier response is being sent, and the parser fails with HPE_PAUSED.
      socket.on('data', ignore)
    },
    closeIdle: () => {
      for (const socket of [...unused, ...upgraded]) socket.destroy()
      http1.closeIdleConnections()
    },
    close: () => void http1.close(),
  }
}

const ignore = (): void => undefined

/** Closes an HTTP/2 stream whose body was not read; later, so that the response arrives before the RST_STREAM. */
function closeUnread({ stream }: Http2ServerRequest): void {
  stream.once('finish', () => {
    if (stream.readableEnded) return
    const timer = setTimeout(() => stream.close(http2NoError), unreadBodyMs)
    stream.once('close', () => clearTimeout(timer))
  })
}

const unreadBodyMs = 250
const http2NoError = 0

/** Refuses requests with too many headers, or with several Host headers: a proxy in front may have used another one. */
function refuseInvalid({ rawHeaders }: IncomingMessage, response: ServerResponse, { maxHeaders }: ListenLimits): boolean {
  if (rawHeaders.length > 2 * maxHeaders) refuse(response, 431)
  else if (hasSeveralHosts(rawHeaders)) refuse(response, 400, '400 Bad Request: too many Host headers')
  else return false
  return true
}

function refuse(response: ServerResponse, code: number, text = ''): void {
  response.writeHead(code, { Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length })
  response.end(text)
}

function hasSeveralHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts > 1
}

function tlsOptions({ clientCa, minVersion = 'TLSv1.2', ciphers, namedCertificate }: ListenOptions, certificate: KeyPair) {
  return {
    ...(namedCertificate === undefined
      ? {}
      : {
          SNICallback: (name: string, done: (error: Error | null, context?: SecureContext) => void): void =>
            done(null, namedCertificate(name)),
        }),
    cert: certificate.cert,
    key: certificate.key,
    minVersion,
    ...(ciphers === undefined ? {} : { ciphers }),
    // The authenticator verifies client certificates, so that an invalid one gets a 401 instead of a broken connection.
    // No session resumption: resumed sessions lack intermediate certificates, and their expiry is not checked again.
    ...(clientCa === undefined
      ? {}
      : { ca: clientCa, requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET }),
  }
}

const http1Options = (limits: ListenLimits) => ({
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: Math.min(limits.headersMs, limits.requestMs),
  requestTimeout: limits.requestMs,
  keepAliveTimeout: limits.idleMs,
  connectionsCheckingInterval: Math.max(50, Math.min(5_000, limits.headersMs / 4)),
})

const http2Options = (limits: ListenLimits) => ({
  // Megabytes per session, including unsent bytes of large lists.
  maxSessionMemory: 128,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  maxSettings: 32,
  maxHeaderListPairs: limits.maxHeaders,
  settings: {
    maxConcurrentStreams: limits.http2Streams,
    maxHeaderListSize: limits.maxHeaderBytes,
    initialWindowSize: 1 << 18,
    enablePush: false,
  },
})

function open(server: Server, endpoint: Endpoint, reusePort: boolean): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(new ListenError(error, endpoint))
    server.once('error', fail)
    server.listen({ host: endpoint.host, port: endpoint.port, ...(reusePort ? { reusePort } : {}) }, () => {
      server.off('error', fail)
      resolve(server.address() as AddressInfo)
    })
  })
}

interface DrainOptions {
  readonly accepts: AcceptQueue
  readonly http1: Http1
  readonly sessions: Http2Sessions
  readonly graceMs: number
  readonly source: ConnectionSource | undefined
}

async function drain({ accepts, http1, sessions, graceMs, source }: DrainOptions): Promise<void> {
  source?.end()
  const closed = source === undefined ? new Promise<void>((resolve) => accepts.server.close(() => resolve())) : accepts.whenEmpty()
  accepts.closeHandshakes()
  sessions.close()
  http1.closeIdle()
  // Connections become idle when their requests end.
  const sweeper = setInterval(() => http1.closeIdle(), 20)
  const deadline = graceMs === 0 ? undefined : setTimeout(() => accepts.closeAll(), timerMs(graceMs))
  if (graceMs === 0) accepts.closeAll()
  await closed
  http1.close()
  clearInterval(sweeper)
  clearTimeout(deadline)
}

/** Open pipelined responses. When the client disconnects, Node.js 20 emits no 'close' on a response that waits for an earlier one. */
class PipelinedResponses {
  readonly #last = new WeakMap<Socket, ServerResponse>()
  readonly #queued = new WeakMap<Socket, Set<ServerResponse>>()

  track(socket: Socket, response: ServerResponse): void {
    this.#last.set(socket, response)
    if (response.socket !== null) return
    let queued = this.#queued.get(socket)
    if (queued === undefined) {
      const created = new Set<ServerResponse>()
      queued = created
      this.#queued.set(socket, created)
      socket.once('close', () => closeQueued(created))
    }
    const responses = queued
    responses.add(response)
    response.once('close', () => responses.delete(response))
  }

  /** A response that is not yet written. Responses end in order, so only the last one is checked. */
  openOn(socket: Socket): ServerResponse | undefined {
    const last = this.#last.get(socket)
    return last === undefined || last.closed || isWritten(last) ? undefined : last
  }

  /** Calls `begin` after the last response on a socket that Node.js has released; closes the connection if that response is not written. */
  afterLast(socket: Socket, begin: () => void): void {
    const last = this.#last.get(socket)
    if (last === undefined || last.closed) begin()
    else if (isWritten(last))
      last.once('close', () => {
        // Node.js has set its timeout of idle connections.
        socket.setTimeout(0)
        if (socket.writable) begin()
      })
    else {
      // The order of responses could not be kept.
      socket.on('error', () => undefined)
      socket.destroy()
    }
  }
}

/** 'close' is emitted later, when the client may have sent its next request. */
const isWritten = ({ socket, writableEnded }: ServerResponse): boolean => socket !== null && writableEnded

/** Emits 'close' unless Node.js does, as newer releases do. */
function closeQueued(responses: ReadonlySet<ServerResponse>): void {
  const queued = (): readonly ServerResponse[] => [...responses].filter(({ socket, closed }) => socket === null && !closed)
  for (const response of queued()) response.destroy()
  setImmediate(() => {
    for (const response of queued()) response.emit('close')
  })
}
