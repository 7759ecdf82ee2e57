// What comes on a connection of HTTP/2 in very many parts is handed to its session a little at a time. Frames of a few bytes are work however short
// they are; Node reads up to two megabytes of a connection in a turn of the event loop, and hands on all of it. Of frames of one byte 64 KiB are six
// thousand, which take 10 ms.
//
// So for a connection that has sent many the bytes are taken as TLS has decrypted them, and wait here; its session gets a piece of them when it is their
// turn, and more is read when it has all. It is the time that counts and not what they are: many frames are never seen outside of Node.

import type { Http2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { takeRawBytes } from './raw-bytes.js'
import { setFeeder } from './read-control.js'
import { handleOf } from './socket-handle.js'
import { unsentBytes } from './socket-room.js'

/** So much is handed on at a time: requests that are taken back at once are 36. */
const pieceBytes = 1024
/** For how long that is done in a turn of the event loop, for all connections. */
const turnMs = 3
/** After a piece that took less, the next one need not wait until everybody has heard of it. */
const quickMs = 0.1
/** What may wait of one connection: more than anybody sends who keeps to the window of the connection. */
const mostWaitingBytes = 8 << 20

/** What is under a session: it takes bytes that were read by somebody else. */
interface Receiver {
  receive(bytes: Buffer): void
}

const isReceiver = (value: unknown): value is Receiver => typeof (value as Partial<Receiver> | null | undefined)?.receive === 'function'

/** Undefined where this version of Node keeps it elsewhere. */
export const receiverOf = (session: unknown): Receiver | undefined =>
  Object.getOwnPropertySymbols(session ?? {})
    .map((name) => (session as Readonly<Record<symbol, unknown>>)[name])
    .find(isReceiver)

export class Http2Inputs {
  readonly #all = new Set<Http2Input>()
  /** In the order in which they have their turn. */
  readonly #waiting = new Set<Http2Input>()
  #isTurnCounted = false
  #begunMs = 0
  /** Whether nobody is read from until the next turn. */
  #isFull = false

  /** From now on, until the connection is closed. False where that cannot be done. */
  pace(socket: Socket, session: Http2Session): boolean {
    const handle = handleOf(socket)
    const receiver = receiverOf(session)
    if (!handle || receiver === undefined) return false
    const input = new Http2Input(socket, {
      receive: (bytes) => session.destroyed || receiver.receive(bytes),
      wait: () => this.#wait(input),
    })
    const leave = takeRawBytes(handle, (part) => this.#take(input, part))
    this.#all.add(input)
    socket.once('close', () => {
      this.#all.delete(input)
      this.#waiting.delete(input)
      leave()
    })
    return true
  }

  #take(input: Http2Input, part: Buffer): void {
    input.add(part)
    if (this.#hasTime() && !this.#waiting.has(input)) while (input.feed() && this.#hasTime());
    if (!input.isEmpty) this.#wait(input)
    if (this.#isFull || this.#hasTime()) return
    this.#isFull = true
    for (const each of this.#all) each.stopReading()
  }

  #hasTime(): boolean {
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true
      this.#begunMs = performance.now()
      setImmediate(() => this.#endTurn())
    }
    return performance.now() - this.#begunMs < turnMs
  }

  #endTurn(): void {
    this.#isTurnCounted = false
    // However much comes: those that wait go on.
    this.#feedOne()
    if (!this.#isFull) return
    this.#isFull = false
    for (const input of this.#all) if (input.isEmpty) input.goOnReading()
  }

  #wait(input: Http2Input): void {
    input.stopReading()
    if (this.#waiting.has(input)) return
    this.#waiting.add(input)
    this.#plan()
  }

  /** For each that waits. What a piece has led to is done before the next: Node puts much of it off until its caller has returned. */
  #plan(): void {
    setImmediate(() => {
      if (this.#waiting.size === 0) return
      if (this.#hasTime()) this.#feedOne()
      else this.#plan()
    })
  }

  #feedOne(): void {
    const [input] = this.#waiting
    if (input === undefined) return
    this.#waiting.delete(input)
    while (input.feed() && this.#hasTime());
    if (input.isEmpty) input.goOnReading()
    else if (!input.isStopped) this.#wait(input)
  }
}

interface InputOptions {
  readonly receive: (bytes: Buffer) => void
  /** There is something to be handed on again. */
  readonly wait: () => void
}

class Http2Input {
  readonly #socket: Socket
  readonly #receive: (bytes: Buffer) => void
  #waiting: Buffer[] = []
  #waitingBytes = 0
  isStopped = false

  constructor(socket: Socket, { receive, wait }: InputOptions) {
    this.#socket = socket
    this.#receive = receive
    setFeeder(socket, {
      stop: () => {
        this.isStopped = true
      },
      goOn: () => {
        this.isStopped = false
        if (this.isEmpty) this.goOnReading()
        else wait()
      },
    })
  }

  get isEmpty(): boolean {
    return this.#waitingBytes === 0
  }

  add(part: Buffer): void {
    this.#waiting.push(part)
    this.#waitingBytes += part.length
    if (this.#waitingBytes > mostWaitingBytes) this.#socket.destroy()
  }

  /** A piece; whether there is more and it was quick. */
  feed(): boolean {
    const [part] = this.#waiting
    if (part === undefined || this.isStopped || this.#socket.destroyed) return false
    const piece = part.subarray(0, pieceBytes)
    if (piece.length === part.length) this.#waiting.shift()
    else this.#waiting[0] = part.subarray(pieceBytes)
    this.#waitingBytes -= piece.length
    const begunMs = performance.now()
    this.#receive(piece)
    return !this.isEmpty && performance.now() - begunMs < quickMs
  }

  stopReading(): void {
    handleOf(this.#socket)?.readStop?.()
  }

  /** While something is to be written that nobody takes, the session does not read, and begins again by itself. */
  goOnReading(): void {
    if (!this.isStopped && unsentBytes(this.#socket) === 0) handleOf(this.#socket)?.readStart?.()
  }
}
