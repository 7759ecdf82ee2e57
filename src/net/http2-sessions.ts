// The HTTP/2 connections of a port: closed when idle, moved on by chance, ended gracefully with the port, and cut when nobody is there.
//
// Node does not notice that a client has gone once it has ended the session itself, as it does with one that resets too many streams: the
// descriptor would stay open until the idle timeout. So a quiet connection is asked with a PING whether anybody is there. Time is counted in
// looks and not by a clock: a process that stood still for an hour must not blame its clients for that.

import type { IncomingMessage } from 'node:http'
import type { Http2Server, Http2ServerRequest, Http2Session, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { PacedEnds } from './paced-ends.js'
import type { Reading, ReadTurns } from './read-turns.js'
import { receivedBytes, unsentBytes } from './socket-room.js'

export interface SessionLimits {
  readonly idleMs: number
  readonly goawayChance: number
}

/** How much a client may send on one connection before anything of it is read. */
const connectionWindowBytes = 1 << 22

/** How long a connection may be open without a request. */
const silentMs = 3_000

const lookMs = 1_000
const looksPerTurn = 100
/** A quiet connection is asked at these intervals, counted in looks: soon after it became quiet, and then now and again. */
const firstPing = 2
const laterPings = 15
/** How many looks a client has to answer; one that waits for a response or watches may be suspended for a while. */
const patience = { idle: 3, busy: 60 }

/** What of HTTP/2 is neither a request nor a body is not shown to anybody, and is work all the same: so is a record of one byte. */
const noiseLookMs = 100
/** How much of it may come between two looks, for each stream that was opened, and at once. */
const noiseBytes = { perLook: 64 << 10, perStream: 16 << 10, most: 2 << 20 }
/** What is sent is acknowledged in small frames. */
const sentPerNoise = 16
/** A new stream is as much work as so many small parts. */
const partsPerStream = 4
/** Header fields of a request that are not counted, and how many beyond them are as much work as a part: of a table of the connection each is one byte. */
const usualFields = 16
const fieldsPerPart = 4
/** So many beyond them may come on a connection in one turn of the event loop. */
const mostFields = 4000
/** And one that is taken back at once is begun and ended for nothing. */
const partsPerHasty = 64

interface Followed {
  /** Destroyed itself: a session that was ended on this side would wait for it to take its last words. */
  readonly socket: Socket
  readonly reading: Reading
  streams: number
  opened: number
  /** Which turn of the event loop it is in which streams are opened, and how many of its streams were taken back in it. */
  turn: number
  isTurnCounted: boolean
  hasty: number
  /** Header fields of its streams in that turn, beyond the usual ones of each. */
  fields: number
  noise: Noise
  isUsed: boolean
  bytesRead: number
  quietLooks: number
  /** How many looks ago it was asked; undefined while nothing is to be answered. */
  askedLooks: number | undefined
}

interface Noise {
  readonly bytes: number
  /** What was seen at the last look: as it came, encrypted, and what it was worth. */
  readonly came: number
  readonly worth: number
}

/** So many streams may be opened and taken back by a client before anything could be done for them, in one turn of the event loop. */
const mostHasty = 32
/** A code of HTTP/2: the other side does too much. */
const enhanceYourCalm = 11

/**
 * Follows one stream to its end. Who takes back what was asked for at once makes as much work as others, and is not held back by how many streams
 * may be open.
 */
function followStream(stream: ServerHttp2Stream, session: Http2Session, followed: Followed, turns: ReadTurns): void {
  followed.streams++
  followed.opened++
  followed.isUsed = true
  const { turn } = followed
  if (!followed.isTurnCounted) {
    followed.isTurnCounted = true
    setImmediate(() => {
      followed.isTurnCounted = false
      followed.turn++
      followed.hasty = 0
      followed.fields = 0
    })
  }
  stream.once('close', () => {
    followed.streams--
    if (followed.turn !== turn || stream.rstCode === 0) return
    turns.count(followed.reading, partsPerHasty, true)
    if (++followed.hasty === mostHasty) session.destroy(undefined, enhanceYourCalm)
  })
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
  readonly #turns: ReadTurns
  readonly #ends: PacedEnds
  #looking: NodeJS.Timeout | undefined
  #listening: NodeJS.Timeout | undefined

  /** The server is made for the first connection. */
  constructor(
    createServer: () => Http2Server,
    limits: SessionLimits,
    { turns, ends }: { readonly turns: ReadTurns; readonly ends: PacedEnds },
  ) {
    this.#createServer = createServer
    this.#limits = limits
    this.#turns = turns
    this.#ends = ends
  }

  /** A connection that chose HTTP/2. */
  accept(socket: Socket): Http2Session | undefined {
    const server = this.#server ?? this.#createServer()
    this.#server = server
    let accepted: Http2Session | undefined
    // The session is made, and announced, before this returns.
    server.once('session', (session) => {
      accepted = session
      this.#follow(session, socket)
    })
    server.emit('connection', socket)
    return accepted
  }

  /** The connection under a session. */
  socketOf(session: Http2Session): Socket {
    return this.#open.get(session)?.socket ?? session.socket
  }

  #follow(session: ServerHttp2Session, socket: Socket): void {
    const { idleMs, goawayChance } = this.#limits
    const reading = this.#turns.of(socket)
    const noise = { bytes: 0, came: 0, worth: 0 }
    const counts = {
      streams: 0,
      opened: 0,
      turn: 0,
      isTurnCounted: false,
      hasty: 0,
      fields: 0,
      isUsed: false,
      bytesRead: 0,
      quietLooks: 0,
      askedLooks: undefined,
    }
    const followed: Followed = { socket, reading, noise, ...counts }
    this.#open.set(session, followed)
    sockets.set(session, socket)
    this.#looking ??= setInterval(() => this.#look(), lookMs).unref()
    this.#listening ??= setInterval(() => this.#listen(), noiseLookMs).unref()
    session.once('close', () => {
      this.#open.delete(session)
      if (this.#open.size === 0) this.#stopLooking()
    })
    session.on('stream', (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, rawHeaders: readonly string[]) => {
      const fields = Math.max(0, rawHeaders.length / 2 - usualFields)
      this.#turns.count(reading, partsPerStream + fields / fieldsPerPart, true)
      followStream(stream, session, followed, this.#turns)
      followed.fields += fields
      if (followed.fields > mostFields) session.destroy(undefined, enhanceYourCalm)
      if (goawayChance > 0 && Math.random() < goawayChance) session.close()
    })
    // Nobody has a use for them. They are counted like other small parts.
    session.on('priority', () => this.#turns.count(reading, 1))
    // Whoever has not asked for anything by now never will. What has arrived is read first: this process may have stood still itself.
    const silence = setTimeout(() => setImmediate(() => this.#ends.soon(() => followed.isUsed || socket.destroy())), silentMs).unref()
    session.once('close', () => clearTimeout(silence))
    // A quiet watch is not an idle connection.
    session.setTimeout(idleMs, () =>
      this.#ends.soon(() => {
        if (followed.streams === 0) session.close()
      }),
    )
    session.setLocalWindowSize(connectionWindowBytes)
  }

  /** No new requests; each connection ends with its last one. */
  close(): void {
    for (const session of this.#open.keys()) this.#ends.soon(() => session.close())
  }

  #stopLooking(): void {
    clearInterval(this.#looking)
    clearInterval(this.#listening)
    this.#looking = undefined
    this.#listening = undefined
  }

  /** Closes connections on which too much comes that is nothing. */
  #listen(): void {
    for (const followed of this.#open.values()) {
      const { socket, noise, reading, opened } = followed
      const came = receivedBytes(socket)
      if (came === noise.came && noise.bytes === 0) continue
      // Records have a size of their own, so that bodies in small ones are worth less.
      const worth = 2 * reading.bodyBytes + opened * noiseBytes.perStream + socket.bytesWritten / sentPerNoise
      const bytes = Math.max(0, noise.bytes + (came - noise.came) - (worth - noise.worth) - noiseBytes.perLook)
      followed.noise = { bytes, came, worth }
      if (bytes > noiseBytes.most) socket.destroy()
      else if (bytes > 0) this.#turns.suspect(reading)
    }
  }

  /** A few in each turn of the event loop: to ask one takes 10 µs. A look is over long before the next. */
  #look(sessions = this.#open.entries()): void {
    for (let looked = 0; looked < looksPerTurn; looked++) {
      const { value } = sessions.next()
      if (value === undefined) return
      const [session, followed] = value
      if (!this.#isAlive(session, followed)) this.#ends.soon(() => followed.socket.destroy())
    }
    setImmediate(() => this.#look(sessions))
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
