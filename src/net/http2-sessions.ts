// The HTTP/2 connections of a port: closed when idle, moved on by chance, ended gracefully with the port, and cut when nobody is there.
//
// Node does not notice that a client has gone once it has ended the session itself, as it does with one that resets too many streams: the
// descriptor would stay open until the idle timeout. So a quiet connection is asked with a PING whether anybody is there. Time is counted in
// looks and not by a clock: a process that stood still for an hour must not blame its clients for that.

import type { IncomingMessage } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import { unsentBytes } from './socket-room.js'

export interface SessionLimits {
  readonly idleMs: number
  readonly goawayChance: number
}

/** How much a client may send on one connection before anything of it is read. */
const connectionWindowBytes = 1 << 22

/** How long a connection may be open without a request. */
const silentMs = 3_000

const lookMs = 1_000
/** A quiet connection is asked at these intervals, counted in looks: soon after it became quiet, and then now and again. */
const firstPing = 2
const laterPings = 15
/** How many looks a client has to answer; one that waits for a response or watches may be suspended for a while. */
const patience = { idle: 3, busy: 60 }

interface Followed {
  /** Destroyed itself: a session that was ended on this side would wait for it to take its last words. */
  readonly socket: Socket
  streams: number
  isUsed: boolean
  bytesRead: number
  quietLooks: number
  /** How many looks ago it was asked; undefined while nothing is to be answered. */
  askedLooks: number | undefined
}

/** Whether the session was ended on this side: what it should send stays, though the connection would take it. */
const isEnded = (session: Http2Session, socket: Socket): boolean => (session.state.outboundQueueSize ?? 0) > 0 && unsentBytes(socket) === 0

/** Of all ports: what a session says of its own is not the connection itself. */
const sockets = new WeakMap<Http2Session, Socket>()

/** The connection that a request came on. */
export function socketUnder(request: IncomingMessage | Http2ServerRequest): Socket | undefined {
  if (!('stream' in request)) return request.socket
  return request.stream.session === undefined ? undefined : sockets.get(request.stream.session)
}

export class Http2Sessions {
  readonly #open = new Map<Http2Session, Followed>()
  readonly #createServer: () => Http2Server
  readonly #limits: SessionLimits
  #server: Http2Server | undefined
  #looking: NodeJS.Timeout | undefined

  /** The server is made for the first connection. */
  constructor(createServer: () => Http2Server, limits: SessionLimits) {
    this.#createServer = createServer
    this.#limits = limits
  }

  /** A connection that chose HTTP/2. */
  accept(socket: Socket): void {
    const server = this.#server ?? this.#createServer()
    this.#server = server
    // The session is made, and announced, before this returns.
    server.once('session', (session) => this.#follow(session, socket))
    server.emit('connection', socket)
  }

  /** The connection under a session. */
  socketOf(session: Http2Session): Socket {
    return this.#open.get(session)?.socket ?? session.socket
  }

  #follow(session: ServerHttp2Session, socket: Socket): void {
    const { idleMs, goawayChance } = this.#limits
    const followed: Followed = { socket, streams: 0, isUsed: false, bytesRead: 0, quietLooks: 0, askedLooks: undefined }
    this.#open.set(session, followed)
    sockets.set(session, socket)
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref()
    session.once('close', () => {
      this.#open.delete(session)
      if (this.#open.size === 0) this.#stopLooking()
    })
    session.on('stream', (stream: ServerHttp2Stream) => {
      followed.streams++
      followed.isUsed = true
      stream.once('close', () => followed.streams--)
      if (goawayChance > 0 && Math.random() < goawayChance) session.close()
    })
    // Whoever has not asked for anything by now never will. What has arrived is read first: this process may have stood still itself.
    const silence = setTimeout(() => setImmediate(() => followed.isUsed || socket.destroy()), silentMs).unref()
    session.once('close', () => clearTimeout(silence))
    // A quiet watch is not an idle connection.
    session.setTimeout(idleMs, () => {
      if (followed.streams === 0) session.close()
    })
    session.setLocalWindowSize(connectionWindowBytes)
  }

  /** No new requests; each connection ends with its last one. */
  close(): void {
    for (const session of this.#open.keys()) session.close()
  }

  #stopLooking(): void {
    clearInterval(this.#looking)
    this.#looking = undefined
  }

  #look(): void {
    for (const [session, followed] of this.#open) if (!this.#isAlive(session, followed)) followed.socket.destroy()
  }

  /** Whether the client can still be there; asks it where that is not known. */
  #isAlive(session: Http2Session, followed: Followed): boolean {
    if (session.destroyed) return true
    const { bytesRead } = followed.socket
    followed.quietLooks = bytesRead === followed.bytesRead ? followed.quietLooks + 1 : 0
    followed.bytesRead = bytesRead
    if (followed.askedLooks !== undefined) {
      followed.askedLooks++
      if (followed.askedLooks < patience.idle) return true
      return followed.streams > 0 && followed.askedLooks < patience.busy && !isEnded(session, followed.socket)
    }
    if (followed.quietLooks !== firstPing && followed.quietLooks % laterPings !== laterPings - 1) return true
    followed.askedLooks = 0
    return session.ping((error) => {
      if (error === null) followed.askedLooks = undefined
    })
  }
}
