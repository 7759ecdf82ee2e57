// The HTTP/2 sessions of a port: closes idle and abusive ones, sends GOAWAY at random (--goaway-chance), and drains them on shutdown.

import type { IncomingMessage } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { enhanceYourCalm } from './request-body-limits.js'

export interface SessionLimits {
  readonly idleMs: number
  /** Time after which a client that reads nothing is disconnected. */
  readonly stallMs: number
  /** Probability (0 to 1) that a request closes its session with GOAWAY, to spread clients over replicas. */
  readonly goawayChance: number
}

/** Flow-control window of a connection: unread bytes of all streams. */
const connectionWindowBytes = 1 << 20
/** Maximum time until the first request of a connection. */
const firstRequestTimeoutMs = 3_000
/** Time that a closed session has to send its last frames. */
const closeTimeoutMs = 5_000
/** Streams opened and reset within one turn of the event loop: rapid reset attack (CVE-2023-44487). */
const maxRapidResets = 32
/** Maximum cost of the streams that one session opens per event-loop turn; lower while the cost of all sessions exceeds `maxTotalCost`. */
const maxCost = 1_000
const maxCostWhenBusy = 64
const maxTotalCost = 1_000
/** Header fields of a stream that cost nothing. */
const freeFields = 16
/** Cost of a stream: 1, plus the KiB and the number of its decoded headers. HPACK can send a header of any length in one byte. */
const costOf = (rawHeaders: readonly string[]): number => {
  let bytes = 0
  for (const text of rawHeaders) bytes += text.length
  return 1 + (bytes >> 10) + Math.max(0, rawHeaders.length / 2 - freeFields) / 4
}
/** Maximum bytes of control frames (PING, SETTINGS, WINDOW_UPDATE) per `checkMs`, beyond an allowance per stream and per byte sent. */
const maxControlBytes = 2 << 20
const bytesPerStream = 16 << 10
const sentPerControlByte = 16
const checkMs = 1_000

interface SessionState {
  readonly socket: Socket
  /** The TCP socket below the TLSSocket. */
  readonly received: Pick<Socket, 'bytesRead'>
  openStreams: number
  openBodies: number
  /** Streams opened since the last check, and whether a request body was open in that time. */
  streams: number
  hadBody: boolean
  /** Values of the sockets at the last check. */
  bytesRead: number
  bytesWritten: number
  /** Number of checks since the last sent byte while streams were open. */
  quietChecks: number
  /** True after the first stream. */
  isUsed: boolean
  /** Number of event-loop turns in which streams were opened; `cost` and `resets` count the current turn. */
  turn: number
  cost: number
  resets: number
  isTurnCounted: boolean
  isEnding: boolean
}

const sockets = new WeakMap<Http2Session, Socket>()

/** The socket of a request: `session.socket` is only a Proxy of it. */
export function socketUnder(request: IncomingMessage | Http2ServerRequest): Socket | undefined {
  if (!('stream' in request)) return request.socket
  return request.stream.session === undefined ? undefined : sockets.get(request.stream.session)
}

/** Destroys a session in the next turn: Node.js 20 corrupts memory if it happens in a callback of one of its streams. */
function destroyLater(session: Http2Session, state: SessionState): void {
  if (state.isEnding) return
  state.isEnding = true
  setImmediate(() => session.destroy(undefined, enhanceYourCalm))
}

export class Http2Sessions {
  readonly #open = new Map<Http2Session, SessionState>()
  readonly #createServer: () => Http2Server
  readonly #limits: SessionLimits
  #server: Http2Server | undefined
  #checker: NodeJS.Timeout | undefined
  /** Cost of all streams opened in this turn. */
  #totalCost = 0

  /** The HTTP/2 server is created for the first connection. */
  constructor(createServer: () => Http2Server, limits: SessionLimits) {
    this.#createServer = createServer
    this.#limits = limits
  }

  /** `received`: the TCP socket below the TLSSocket. */
  accept(socket: Socket, received: Pick<Socket, 'bytesRead'> = socket): void {
    const server = this.#server ?? this.#createServer()
    this.#server = server
    // 'session' is emitted before `emit` returns.
    server.once('session', (session) => this.#track(session, socket, received))
    server.emit('connection', socket)
  }

  /** Sends GOAWAY; each session ends with its last request. */
  close(): void {
    for (const session of this.#open.keys()) session.close()
  }

  #track(session: ServerHttp2Session, socket: Socket, received: Pick<Socket, 'bytesRead'>): void {
    const state: SessionState = {
      socket,
      received,
      openStreams: 0,
      openBodies: 0,
      streams: 0,
      hadBody: false,
      bytesRead: received.bytesRead,
      bytesWritten: 0,
      quietChecks: 0,
      isUsed: false,
      turn: 0,
      cost: 0,
      resets: 0,
      isTurnCounted: false,
      isEnding: false,
    }
    this.#open.set(session, state)
    sockets.set(session, socket)
    this.#checker ??= setInterval(() => this.#check(), checkMs).unref()
    session.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, rawHeaders: readonly string[]) => {
      this.#trackStream(session, stream, state)
      const cost = costOf(rawHeaders)
      state.cost += cost
      this.#totalCost += cost
      if (state.cost > maxCost || (this.#totalCost > maxTotalCost && state.cost > maxCostWhenBusy)) destroyLater(session, state)
      else if (this.#limits.goawayChance > 0 && Math.random() < this.#limits.goawayChance) session.close()
    })
    // In an immediate, so that requests that arrived while the process was suspended are read first.
    const firstRequestTimer = setTimeout(() => setImmediate(() => state.isUsed || socket.destroy()), firstRequestTimeoutMs).unref()
    // An open stream, such as a watch without events, keeps the session.
    session.setTimeout(this.#limits.idleMs, () => state.openStreams === 0 && session.close())
    session.setLocalWindowSize(connectionWindowBytes)
    session.once('close', () => {
      clearTimeout(firstRequestTimer)
      this.#open.delete(session)
      if (this.#open.size > 0) return
      clearInterval(this.#checker)
      this.#checker = undefined
    })
  }

  #trackStream(session: Http2Session, stream: ServerHttp2Stream, state: SessionState): void {
    state.openStreams++
    state.streams++
    state.isUsed = true
    if (!state.isTurnCounted) {
      state.isTurnCounted = true
      setImmediate(() => {
        state.isTurnCounted = false
        state.turn++
        this.#totalCost -= state.cost
        state.cost = 0
        state.resets = 0
      })
    }
    const hasBody = !stream.endAfterHeaders
    if (hasBody) {
      state.openBodies++
      state.hadBody = true
    }
    const { turn } = state
    stream.once('close', () => {
      state.openStreams--
      if (hasBody) state.openBodies--
      const isReset = stream.rstCode !== 0 || !stream.writableFinished
      if (state.turn === turn && isReset && ++state.resets === maxRapidResets) destroyLater(session, state)
    })
  }

  #check(): void {
    for (const [session, state] of this.#open) {
      const { socket, received } = state
      const control =
        received.bytesRead -
        state.bytesRead -
        state.streams * bytesPerStream -
        (socket.bytesWritten - state.bytesWritten) / sentPerControlByte
      if ((!state.hadBody && control > maxControlBytes) || this.#isStalled(session, state)) socket.destroy()
      // A closed session waits for the client to read the last frames.
      else if ((session.closed || session.destroyed) && state.openStreams === 0) setTimeout(() => socket.destroy(), closeTimeoutMs).unref()
      state.bytesRead = received.bytesRead
      state.bytesWritten = socket.bytesWritten
      state.streams = 0
      state.hadBody = state.openBodies > 0
    }
  }

  /**
   * A session that sends nothing for half of the time limit sends a PING. It cannot if the client does not read, or has disconnected during
   * a write, which Node.js 20 does not report.
   */
  #isStalled(session: Http2Session, state: SessionState): boolean {
    const isQuiet = state.openStreams > 0 && state.socket.bytesWritten === state.bytesWritten
    state.quietChecks = isQuiet ? state.quietChecks + 1 : 0
    const maxQuietChecks = Math.max(2, Math.ceil(this.#limits.stallMs / checkMs))
    if (state.quietChecks === maxQuietChecks >> 1 && !session.destroyed) session.ping(ignore)
    return state.quietChecks >= maxQuietChecks
  }
}

const ignore = (): void => undefined
