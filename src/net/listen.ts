// One TLS port that speaks HTTP/1.1 and HTTP/2: the place where sockets become requests.
//
// The protocol is chosen in the TLS handshake. Measured on one core, HTTP/1.1 costs the same through `https` and through
// `http2.createSecureServer({ allowHTTP1 })`, but only the former can bound headers, keep-alive and slow requests; so `https` owns the
// port and hands sockets that chose `h2` to an HTTP/2 server. That one is made when the first of them comes: a start does not wait for it.

import { constants } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { createServer as createHttps, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { SecureContext, TLSSocket } from 'node:tls'
import { timerMs } from '../base/clock.js'
import { type Logger, silentLogger } from '../base/logger.js'
import { madeAbove, parentOf } from './begun-tls.js'
import { DirectRequest } from './direct-request.js'
import { FairTurns } from './fair-turns.js'
import { countHttp1Parts } from './http1-parts.js'
import { Http2Inputs } from './http2-input.js'
import { countHttp2Parts } from './http2-parts.js'
import { Http2Sessions } from './http2-sessions.js'
import { paceIdle } from './idle-connections.js'
import type { KeyPair } from './issue-certificate.js'
import { type Endpoint, ListenError } from './listen-error.js'
import { lookAtNode } from './node-insides.js'
import { paceAccepts } from './paced-accepts.js'
import { PacedEnds } from './paced-ends.js'
import { PacedHandshakes } from './paced-handshakes.js'
import { PacedInputs } from './paced-input.js'
import { isAnswering, QueuedAnswers } from './queued-answers.js'
import { ReadTurns } from './read-turns.js'
import { answerRoomBytes, setRoom } from './socket-room.js'
import { StalledConnections } from './stalled-connections.js'
import type { TlsVersion } from './tls-names.js'
import { closeEndless } from './unread-bodies.js'
import { answerOn, hasBody, withoutUpgrade } from './upgrade.js'

export type Request = IncomingMessage | Http2ServerRequest
export type Response = ServerResponse | Http2ServerResponse
export type RequestListener = (request: Request, response: Response) => void

export interface ListenOptions {
  /** An IP address. */
  readonly host: string
  /** 0: any free one. */
  readonly port: number
  readonly certificate: KeyPair
  /** PEM certificates; when given, clients are asked for a certificate, and let in without one. */
  readonly clientCa?: string | undefined
  readonly minVersion?: TlsVersion | undefined
  readonly ciphers?: string | undefined
  /** What to show to clients who ask for a certain name, made with the client CA above; undefined: the certificate above. */
  readonly namedCertificate?: ((servername: string) => SecureContext | undefined) | undefined
  /** Whether other processes may listen on the same port. */
  readonly sharesPort?: boolean
  readonly limits?: Partial<ListenLimits>
  /** Whether what is asked for under a path waits behind nothing else of the same user. */
  readonly isUrgent?: (path: string) => boolean
  /** A connection failed before it was encrypted. */
  readonly onHandshakeError?: () => void
  readonly logger?: Logger
}

export interface ListenLimits {
  readonly maxConnections: number
  /** Of one request, decoded: the request line, names and values. */
  readonly maxHeaderBytes: number
  readonly maxHeaders: number
  readonly handshakeMs: number
  /** From the first byte of a request to the end of its headers. */
  readonly headersMs: number
  /** From the first byte of a request to the end of its body. */
  readonly requestMs: number
  /** How long a connection stays open without a request. */
  readonly idleMs: number
  /** How long a client may take nothing of what was written to it. */
  readonly stallMs: number
  readonly http2Streams: number
  /** Between 0 and 1: how often a request asks its HTTP/2 client to open a new connection. */
  readonly goawayChance: number
}

const defaultLimits: ListenLimits = {
  maxConnections: 10_000,
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

/** An open port; it lives until `close`. */
export interface Listener {
  readonly address: string
  readonly port: number
  /** For connections from now on; those that are open keep theirs. Throws when key and certificate do not match. */
  setCertificate(certificate: KeyPair): void
  /** Whose certificates are verified from now on, where clients were asked for certificates from the beginning. */
  setClientCa(clientCa: string): void
  /** Accepts nothing new, lets requests that have begun end, and after `graceMs` cuts what is left. */
  close(options?: { readonly graceMs?: number }): Promise<void>
}

export async function listen(options: ListenOptions, serve: RequestListener): Promise<Listener> {
  const limits: ListenLimits = { ...defaultLimits, ...options.limits }
  const logger = options.logger ?? silentLogger
  let { certificate: shown, clientCa } = options
  const secure = () => tlsOptions({ ...options, clientCa }, shown)
  const silent = new Set<Socket>()
  /** On these nobody speaks HTTP any more. */
  const taken = new Set<Socket>()
  const turns = new FairTurns()
  const isUrgent = ({ url = '' }: Request): boolean => options.isUrgent?.(url) ?? false
  const readings = new ReadTurns()
  const queued = new QueuedAnswers()
  const https = createHttps({ ...secure(), ...http1Options(limits) }, (request, response) => {
    const { socket } = request
    silent.delete(socket)
    queued.follow(socket, response)
    closeEndless(request, response)
    if (request.rawHeaders.length > 2 * limits.maxHeaders) refuse(response, 431)
    else if (hasSeveralHosts(request.rawHeaders)) refuse(response, 400, '400 Bad Request: too many Host headers')
    else
      turns.run({
        connection: socket,
        socket,
        begin: () => response.destroyed || serve(request, response),
        answer: response,
        isUrgent: isUrgent(request),
      })
  })
  const createHttp2 = (): Http2Server => {
    const http2 = process.getBuiltinModule('node:http2').createServer(http2Options(limits), (request, response) => {
      const { session } = request.stream
      if (!request.stream.endAfterHeaders) {
        if (session !== undefined) countHttp2Parts(request.stream, sessions.socketOf(session), readings)
        closeUnread(request)
      }
      if (session === undefined) return
      turns.run({
        connection: session,
        socket: sessions.socketOf(session),
        begin: () => request.stream.destroyed || serve(request, response),
        isUrgent: isUrgent(request),
      })
    })
    return http2.on('sessionError', (error: Error) => logger.debug({ error: error.message }, 'HTTP/2 connection error'))
  }
  const ends = new PacedEnds()
  const sessions = new Http2Sessions(createHttp2, limits, { turns: readings, ends })
  // Node would close all that were idle for the same time at once.
  https.on('timeout', (socket) => ends.soon(() => isAnswering(socket) || socket.destroy()))
  // Broken requests and handshakes are Node's to answer: without a `clientError` listener it says 400, 408 or 431 and hangs up.
  https.maxConnections = limits.maxConnections
  // Node would leave out headers beyond this number without a word; they are counted above.
  https.maxHeadersCount = 0
  const stalled = new StalledConnections(limits)
  const serveHttp1 = routeByProtocol({ https, sessions, silent, stalled, readings, ends })
  https.on('upgrade', (request, socket: Socket, head) => {
    silent.delete(socket)
    if (isAnswering(socket)) {
      // Node has let go of the connection, and earlier requests on it have no answer yet: no order could be kept from here on.
      socket.on('error', () => undefined)
      socket.destroy()
      return
    }
    if (hasBody(request)) {
      // Nobody upgrades with a body. It is a request like others, and read once more as one.
      socket.unshift(withoutUpgrade(request, head))
      serveHttp1(socket)
      return
    }
    const response = answerOn(socket, request, head, () => {
      taken.add(socket)
      socket.once('close', () => taken.delete(socket))
    })
    if (request.rawHeaders.length > 2 * limits.maxHeaders) refuse(response, 431)
    else if (hasSeveralHosts(request.rawHeaders)) refuse(response, 400, '400 Bad Request: too many Host headers')
    else turns.run({ connection: socket, socket, begin: () => serve(request, response) })
  })
  const sockets = trackSockets(https)
  paceHandshakes(https, limits.handshakeMs, ends)
  const { address, port } = await open(https, options, options.sharesPort ?? false)
  paceAccepts(https)
  if (options.onHandshakeError !== undefined) https.on('tlsClientError', options.onHandshakeError)
  https.on('error', (error) => logger.error({ error: error.message }, 'listener error'))
  // When the start is over.
  const looking = setTimeout(() => void lookAtNode(https, shown.cert, logger), lookMs).unref()
  return {
    address,
    port,
    setCertificate: (certificate) => {
      https.setSecureContext(tlsOptions({ ...options, clientCa }, certificate))
      shown = certificate
    },
    setClientCa: (pem) => {
      clientCa = pem
      https.setSecureContext(secure())
    },
    close: ({ graceMs = 0 } = {}) => {
      clearTimeout(looking)
      return drain({ https, sessions, ends, sockets, ended: [silent, taken], graceMs }).finally(() => stalled.close())
    },
  }
}

/** After which time of listening it is looked at what this Node has, and the module is loaded that speaks HTTP/2. */
const lookMs = 100

/**
 * Who was answered before all of a body was read need not send the rest: the stream would stay open until it had, and hold what came. The end of
 * the answer must be there before the end of the stream, which overtakes it otherwise: a client would take a whole answer for a broken one.
 */
function closeUnread({ stream }: Http2ServerRequest): void {
  stream.once('finish', () => {
    if (stream.readableEnded) return
    const late = setTimeout(() => stream.close(http2NoError), unreadMs)
    stream.once('close', () => clearTimeout(late))
  })
}

const unreadMs = 250

/** A code of HTTP/2. */
const http2NoError = 0

function refuse(response: ServerResponse, code: number, text = ''): void {
  response.writeHead(code, { Connection: 'close', 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': text.length })
  response.end(text)
}

/** Who is in between may have believed another one of them. */
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
    // Whether a certificate is good is for authentication to say, so that a bad one gets an answer and not a broken connection.
    // No session resumption: a resumed session has no intermediate certificates, and no expiry is checked again.
    ...(clientCa === undefined
      ? {}
      : { ca: clientCa, requestCert: true, rejectUnauthorized: false, secureOptions: constants.SSL_OP_NO_TICKET }),
  }
}

const http1Options = (limits: ListenLimits) => ({
  ALPNProtocols: ['h2', 'http/1.1'],
  handshakeTimeout: limits.handshakeMs,
  maxHeaderSize: limits.maxHeaderBytes,
  headersTimeout: Math.min(limits.headersMs, limits.requestMs),
  requestTimeout: limits.requestMs,
  keepAliveTimeout: limits.idleMs,
  connectionsCheckingInterval: Math.max(50, Math.min(5_000, limits.headersMs / 4)),
  noDelay: true,
  IncomingMessage: DirectRequest,
})

const http2Options = (limits: ListenLimits) => ({
  // In megabytes, of one connection: what is written and not yet taken counts, and big lists are taken slowly.
  maxSessionMemory: 128,
  maxHeaderListPairs: limits.maxHeaders,
  settings: {
    maxConcurrentStreams: limits.http2Streams,
    maxHeaderListSize: limits.maxHeaderBytes,
    initialWindowSize: 1 << 18,
    enablePush: false,
  },
})

/**
 * Node 20 pauses a connection while an answer waits to be written, and then takes the body of the next request for an error. With room
 * for a whole answer it does not pause.
 */
const roomForAnswers = (socket: TLSSocket): void => setRoom(socket, answerRoomBytes)

interface Routing {
  readonly https: Server
  readonly sessions: Http2Sessions
  /** Connections that have not asked for anything yet: Node does not count them as idle. */
  readonly silent: Set<Socket>
  readonly stalled: StalledConnections
  readonly readings: ReadTurns
  readonly ends: PacedEnds
}

function routeByProtocol({ https, sessions, silent, stalled, readings, ends }: Routing): (socket: Socket) => void {
  const parts = { turns: readings, paced: new PacedInputs() }
  const inputs = new Http2Inputs()
  const [listener] = https.listeners('secureConnection')
  https.removeAllListeners('secureConnection')
  const serveHttp1 = (socket: Socket): void => {
    listener?.call(https, socket)
    countHttp1Parts(socket, parts)
  }
  https.on('secureConnection', (socket: TLSSocket) => {
    ends.pace(socket)
    if (socket.alpnProtocol === 'h2') {
      const session = sessions.accept(socket)
      if (session !== undefined) readings.of(socket).takeOver = () => inputs.pace(socket, session)
      return
    }
    roomForAnswers(socket)
    stalled.watch(socket)
    silent.add(socket)
    socket.once('close', () => silent.delete(socket))
    serveHttp1(socket)
  })
  return serveHttp1
}

function paceHandshakes(https: Server, silentMs: number, ends: PacedEnds): void {
  const [listener] = https.listeners('connection')
  if (listener === undefined) return
  const handshakes = new PacedHandshakes({
    begin: (socket) => {
      const made = madeAbove(socket, () => void listener.call(https, socket))
      if (made !== undefined) ends.pace(made)
    },
    onFailure: (socket) => void https.emit('tlsClientError', new Error('the client said nothing'), socket),
    silentMs,
  })
  https.off('connection', listener as (socket: Socket) => void)
  https.on('connection', (socket: Socket) => {
    ends.pace(socket)
    handshakes.add(socket)
  })
  https.prependListener('secureConnection', (socket: TLSSocket) => {
    const raw = parentOf(socket)
    if (raw !== undefined) handshakes.end(raw)
  })
}

function trackSockets(https: Server): ReadonlySet<Socket> {
  const sockets = new Set<Socket>()
  https.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return sockets
}

function open(https: Server, endpoint: Endpoint, reusePort: boolean): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(new ListenError(error, endpoint))
    https.once('error', fail)
    https.listen({ host: endpoint.host, port: endpoint.port, ...(reusePort ? { reusePort } : {}) }, () => {
      https.off('error', fail)
      resolve(https.address() as AddressInfo)
    })
  })
}

interface Draining {
  readonly https: Server
  readonly sessions: Http2Sessions
  readonly ends: PacedEnds
  readonly sockets: ReadonlySet<Socket>
  /** Those that end at once: nobody has asked for anything on them, or what was asked for has no end. */
  readonly ended: readonly ReadonlySet<Socket>[]
  readonly graceMs: number
}

async function drain({ https, sessions, ends, sockets, ended, graceMs }: Draining): Promise<void> {
  paceIdle(https, ends)
  const closed = new Promise<void>((resolve) => https.close(() => resolve()))
  sessions.close()
  for (const some of ended) for (const socket of some) ends.soon(() => some.has(socket) && socket.destroy())
  const cut = (): void => sockets.forEach((socket) => void socket.destroy())
  // Node closes connections that are idle now; those that become idle are looked for again and again.
  const sweeping = setInterval(() => https.closeIdleConnections(), 20)
  const cutting = graceMs === 0 ? undefined : setTimeout(cut, timerMs(graceMs))
  if (graceMs === 0) cut()
  await closed
  clearInterval(sweeping)
  clearTimeout(cutting)
}
