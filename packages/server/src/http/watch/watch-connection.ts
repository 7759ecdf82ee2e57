// The HTTP connection of a watch stream. Large events are written in chunks, so that the socket of a slow client buffers only a part.

import type { Exchange } from '../pipeline/exchange.js'
import { connectionOf, flushHead, headersOf, writeHead, writeTo } from '../responses/send-response.js'

/** Time that an ended watcher has to read the rest of its response. */
export const drainTimeoutMs = 5_000

/** A buffer or connection, and its unsent bytes. */
export type Unsent = readonly [holder: object, bytes: number | (() => number)]

export interface WatchOutput {
  readonly isWithinEvent: boolean
  write(bytes: Uint8Array): boolean
  /** Writes a short frame without splitting it. */
  writeWhole(bytes: Uint8Array): boolean
  /** Writes the rest of an event; returns false if the socket buffer is full. */
  writeRest(): boolean
  /** Calls back whenever the socket buffer has drained. */
  onDrain(resume: () => void): void
  unsent(): Generator<Unsent>
  finish(): void
  /** Ends the stream of a client that is too slow; cut off at once within an event, otherwise after a timeout. */
  abandon(): void
}

export class WatchConnection implements WatchOutput {
  readonly #exchange: Exchange
  readonly #chunkBytes: number
  #rest: Uint8Array | undefined
  #written = 0

  constructor(exchange: Exchange, contentType: string, bufferBytes: number) {
    this.#exchange = exchange
    this.#chunkBytes = bufferBytes
    writeHead(exchange, 200, headersOf(exchange, contentType))
    flushHead(exchange)
  }

  get isWithinEvent(): boolean {
    return this.#rest !== undefined
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length <= this.#chunkBytes) return writeTo(this.#exchange, bytes)
    this.#rest = bytes
    this.#written = 0
    return this.writeRest()
  }

  writeWhole(bytes: Uint8Array): boolean {
    return writeTo(this.#exchange, bytes)
  }

  onDrain(resume: () => void): void {
    this.#exchange.response.on('drain', resume)
  }

  finish(): void {
    this.#exchange.response.end()
  }

  writeRest(): boolean {
    let isWritable = true
    while (this.#rest !== undefined && isWritable) {
      const end = this.#written + this.#chunkBytes
      isWritable = writeTo(this.#exchange, this.#rest.subarray(this.#written, end))
      this.#written = end
      if (end >= this.#rest.length) this.#rest = undefined
    }
    return isWritable
  }

  *unsent(): Generator<Unsent> {
    if (this.#rest !== undefined) yield [this.#rest.buffer, this.#rest.length]
    const found = connectionOf(this.#exchange)
    if (found !== undefined) yield [found.key, found.unsentBytes]
  }

  abandon(): void {
    const connection = connectionOf(this.#exchange)
    const unsent = connection?.unsentBytes() ?? 0
    if (this.#rest === undefined) this.#exchange.response.end()
    else this.#exchange.cut()
    this.#rest = undefined
    setTimeout(() => {
      // A client that has read less than half of the unsent bytes counts as dead: all its HTTP/2 streams are closed.
      const isStalled = unsent > 0 && connection !== undefined && connection.unsentBytes() > unsent / 2
      this.#exchange.cut()
      if (isStalled) connection.destroy()
    }, drainTimeoutMs).unref()
  }
}
