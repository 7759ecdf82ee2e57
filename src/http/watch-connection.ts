// The connection of a watch: large events are written in pieces, each when the last one was taken, so that only the event itself, which is
// shared, waits for a slow client, and not a copy of it in every connection.

import type { Exchange } from './exchange.js'
import { connectionOf, writeShared, writeTo } from './respond.js'

/** How long a watcher that was let go may take for what is on its way. */
const lastWordsMs = 5_000

export class WatchConnection {
  readonly #exchange: Exchange
  readonly #pieceBytes: number
  #rest: Uint8Array | undefined
  #written = 0

  constructor(exchange: Exchange, pieceBytes: number) {
    this.#exchange = exchange
    this.#pieceBytes = pieceBytes
  }

  /** Whether a part of an event has been sent and another has not. */
  get isWithinEvent(): boolean {
    return this.#rest !== undefined
  }

  /** Whether there is room for more. */
  write(bytes: Uint8Array): boolean {
    if (bytes.length <= this.#pieceBytes) return writeShared(this.#exchange, bytes)
    this.#rest = bytes
    this.#written = 0
    return this.goOn()
  }

  /** Writes what is left of an event; whether there is room for more after it. */
  goOn(): boolean {
    const { response } = this.#exchange
    // Of HTTP/1.1 both the answer and its socket say that there is room; the second time it may be used up already.
    let hasRoom = !('assignSocket' in response && response.writableNeedDrain)
    while (this.#rest !== undefined && hasRoom) {
      const end = this.#written + this.#pieceBytes
      hasRoom = writeTo(this.#exchange, this.#rest.subarray(this.#written, end))
      this.#written = end
      if (end >= this.#rest.length) this.#rest = undefined
    }
    return hasRoom
  }

  *unsent(): Generator<readonly [part: object, bytes: number]> {
    if (this.#rest !== undefined) yield [this.#rest.buffer, this.#rest.length]
    const found = connectionOf(this.#exchange)
    if (found !== undefined) yield [found.key, found.unsentBytes()]
  }

  /** The client was too slow. It may still read what is on its way; half an event is of no use to it. */
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
    setTimeout(cut, lastWordsMs).unref()
  }
}
