// Connections that begin with TLS at the same time do so a few in each turn of the event loop: a handshake is half a millisecond of work, and of three
// hundred that come at once it would be one piece.
//
// While few are in it nothing is different. Of the others the first bytes are kept below their streams, and they are handed to TLS when it is their
// turn: whoever says nothing takes nobody's turn. Those who are in it and go on at once are held back in the same way, until the next turn.

import type { Socket } from 'node:net'
import { awaitFirstBytes } from './first-bytes.js'
import { handleOf } from './socket-handle.js'

/** So many may be in it without waiting for a turn; and so many are begun, or read from again, in a turn. */
const few = 4
/** For how long connections become secure in a turn, until the others in it have to wait. */
const turnMs = 2

export interface HandshakeOptions {
  /** Hands a connection to TLS, which reads what has come on it. */
  readonly begin: (socket: Socket) => void
  /** One was closed before it was handed on. */
  readonly onFailure: (socket: Socket) => void
  /** How long a client may say nothing. */
  readonly silentMs: number
}

export class PacedHandshakes {
  readonly #options: HandshakeOptions
  /** Those that TLS has and that are not secure yet; whether one has to wait until it is read from. */
  readonly #begun = new Map<Socket, 'read' | 'held'>()
  /** Those that have said something, in the order in which they go on. */
  readonly #ready = new Set<Socket>()
  readonly #held = new Set<Socket>()
  #planned = 0
  #isTurnCounted = false
  #begunMs = 0

  constructor(options: HandshakeOptions) {
    this.#options = options
  }

  /** A connection that was just accepted. */
  add(socket: Socket): void {
    if (this.#begun.size < few && this.#ready.size === 0) {
      this.#begin(socket)
      return
    }
    const { onFailure, silentMs } = this.#options
    const ready = (): void => {
      this.#ready.add(socket)
      this.#plan()
    }
    const fail = (): void => {
      this.#ready.delete(socket)
      onFailure(socket)
    }
    const ignore = (): void => undefined
    const giveUp = (): void => void socket.destroy()
    socket.once('close', fail).once('end', giveUp).on('error', ignore).setTimeout(silentMs, giveUp)
    const take = awaitFirstBytes(socket, ready)
    this.#leave.set(socket, () => {
      socket.off('close', fail).off('end', giveUp).off('error', ignore).off('timeout', giveUp).setTimeout(0)
      take()
    })
  }

  /** What is to be undone of one that waits. */
  readonly #leave = new WeakMap<Socket, () => void>()

  /** A connection is secure now. */
  end(socket: Socket): void {
    this.#forget(socket)
    if (!this.#isTurnCounted) {
      this.#isTurnCounted = true
      this.#begunMs = performance.now()
      setImmediate(() => {
        this.#isTurnCounted = false
        this.#plan()
      })
    } else if (performance.now() - this.#begunMs >= turnMs) this.#hold()
  }

  #begin(socket: Socket): void {
    this.#begun.set(socket, 'read')
    socket.once('close', () => this.#forget(socket))
    this.#options.begin(socket)
  }

  #forget(socket: Socket): void {
    this.#begun.delete(socket)
    this.#held.delete(socket)
  }

  #hold(): void {
    for (const [socket, state] of this.#begun) {
      if (state === 'held') continue
      this.#begun.set(socket, 'held')
      this.#held.add(socket)
      handleOf(socket)?.readStop?.()
    }
  }

  /** What a handshake has led to is done before the next: each has a call of its own. */
  #plan(): void {
    for (; this.#planned < Math.min(few, this.#ready.size + this.#held.size); this.#planned++) setImmediate(() => this.#next())
  }

  #next(): void {
    this.#planned--
    const [held] = this.#held
    const [ready] = this.#ready
    if (held !== undefined) {
      this.#held.delete(held)
      this.#begun.set(held, 'read')
      handleOf(held)?.readStart?.()
    } else if (ready !== undefined) {
      this.#ready.delete(ready)
      this.#leave.get(ready)?.()
      this.#begin(ready)
    }
    this.#plan()
  }
}
