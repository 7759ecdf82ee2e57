// The connection of a watch: large events are written in pieces, each when the last one was taken, so that only the event itself, which is
// shared, waits for a slow client, and not a copy of it in every connection.

import type { Exchange } from './exchange.js'
import { PacedCuts } from './paced-cuts.js'
import { PacedWrites } from './paced-writes.js'
import { connectionOf, flushHead, headersOf, onRoom, withStreamRoom, writeHead, writeShared, writeTo } from './respond.js'

/** How long a watcher that was let go may take for what is on its way. */
export const lastWordsMs = 5_000

/** Something in memory that waits for a client, and how large it is, or how to find out. */
export type Unsent = readonly [part: object, bytes: number | (() => number)]

/** How a watch is told to its client, once it has been said that it begins. */
export interface WatchWire {
  /** Whether a part of an event has been sent and another has not. */
  readonly isWithinEvent: boolean
  /** Several events in a row; whether there is room for more. */
  write(bytes: Uint8Array): boolean
  /** One that is short. */
  writeWhole(bytes: Uint8Array): boolean
  /** Writes what is left of an event; whether there is room for more after it. */
  goOn(): boolean
  /** Calls back whenever there is room again, until the client has gone. */
  onRoom(resume: () => void): void
  unsent(): Generator<Unsent>
  /** All is said. */
  finish(): void
  /** The client was too slow. It may still read what is on its way; half an event is of no use to it. */
  end(): void
}

/** Of all watches: a large event goes to all who watch it at the same moment. */
const pacedWrites = new PacedWrites()
/** Those that got stuck together are let go together, and their time is up together. */
const pacedCuts = new PacedCuts()

export class WatchConnection implements WatchWire {
  readonly #exchange: Exchange
  readonly #pieceBytes: number
  #rest: Uint8Array | undefined
  #written = 0
  #resume: (() => void) | undefined
  /** Whether it waits for a turn in which a piece may be written. */
  #isPaced = false

  constructor(exchange: Exchange, contentType: string, roomBytes: number) {
    this.#exchange = exchange
    this.#pieceBytes = roomBytes
    writeHead(exchange, 200, headersOf(exchange, contentType))
    flushHead(exchange)
    withStreamRoom(exchange, roomBytes)
  }

  get isWithinEvent(): boolean {
    return this.#rest !== undefined
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length <= this.#pieceBytes) return writeShared(this.#exchange, bytes)
    this.#rest = bytes
    this.#written = 0
    return this.goOn()
  }

  writeWhole(bytes: Uint8Array): boolean {
    return writeTo(this.#exchange, bytes)
  }

  onRoom(resume: () => void): void {
    this.#resume = resume
    onRoom(this.#exchange, resume)
  }

  finish(): void {
    this.#exchange.response.end()
  }

  goOn(): boolean {
    const { response } = this.#exchange
    // Of HTTP/1.1 both the answer and its socket say that there is room; the second time it may be used up already.
    let hasRoom = !('assignSocket' in response && response.writableNeedDrain)
    while (this.#rest !== undefined && hasRoom) {
      if (!this.#mayWrite()) return false
      const end = this.#written + this.#pieceBytes
      hasRoom = writeTo(this.#exchange, this.#rest.subarray(this.#written, end))
      this.#written = end
      if (end >= this.#rest.length) this.#rest = undefined
    }
    return hasRoom
  }

  #mayWrite(): boolean {
    if (this.#isPaced) return false
    this.#isPaced = !pacedWrites.take(this.#pieceBytes, () => {
      this.#isPaced = false
      if (!this.#exchange.isGone) this.#resume?.()
    })
    return !this.#isPaced
  }

  *unsent(): Generator<Unsent> {
    if (this.#rest !== undefined) yield [this.#rest.buffer, this.#rest.length]
    const found = connectionOf(this.#exchange)
    if (found !== undefined) yield [found.key, found.unsentBytes]
  }

  end(): void {
    const connection = connectionOf(this.#exchange)
    const unsent = connection?.unsentBytes() ?? 0
    if (this.#rest === undefined) this.#exchange.response.end()
    else this.#exchange.cut()
    this.#rest = undefined
    const cut = (): void => {
      this.#exchange.cut()
      // Whoever has hardly taken anything of a connection meanwhile has no use for the other streams of it, either.
      if (unsent > 0 && connection !== undefined && connection.unsentBytes() > unsent / 2) connection.destroy()
    }
    setTimeout(() => pacedCuts.add(cut), lastWordsMs).unref()
  }
}
