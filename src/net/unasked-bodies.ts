// How much of bodies connections have brought that nobody has asked for yet: of requests that wait for their turn, or until it is known who sent them.
// Nobody else counts it. A connection that has brought much, or something while all together have brought much, is not read from until some of it was
// asked for, or let go.

import type { Socket } from 'node:net'
import { goOnReading, stopReading } from './read-control.js'

export interface UnaskedBounds {
  /** Of one connection. What one reading brings: a write of 50 KB that comes at once, and has to wait, does not stop anything. */
  readonly one: number
  /** Of all of them: beyond it those that hold something are not read from. */
  readonly all: number
  /** Each connection may bring what one reading brings before it is stopped: beyond this the one that holds most is closed. */
  readonly most: number
}

const usual: UnaskedBounds = { one: 64 << 10, all: 64 << 20, most: 128 << 20 }
/** What the smallest part takes. */
const leastBytes = 256

interface Held {
  bytes: number
  /** It was closed, and counts no more. */
  isCut: boolean
}

export class UnaskedBodies {
  readonly #bounds: UnaskedBounds
  /** Of each connection that has held something, until it is closed. */
  readonly #held = new Map<Socket, Held>()
  /** Those that are stopped because of the others alone, the first of them first. */
  readonly #waiting = new Set<Socket>()
  #bytes = 0
  #isGoingOn = false

  constructor(bounds = usual) {
    this.#bounds = bounds
  }

  /** Of all connections. */
  get bytes(): number {
    return this.#bytes
  }

  /** Returns what is to be released for it. */
  hold(socket: Socket, part: Buffer): number {
    const bytes = Math.max(part.length, leastBytes)
    const held = this.#heldOf(socket)
    if (held.isCut) return bytes
    held.bytes += bytes
    this.#bytes += bytes
    // Each time: what was read with it comes as well, and with it the end of a body, after which Node reads on.
    if (held.bytes > this.#bounds.one || this.#bytes > this.#bounds.all) stopReading(socket, 'bodies')
    if (this.#bytes > this.#bounds.all && held.bytes <= this.#bounds.one) this.#waiting.add(socket)
    if (this.#bytes > this.#bounds.most) this.#cutLargest(socket, held)
    return bytes
  }

  release(socket: Socket, bytes: number): void {
    const held = this.#held.get(socket)
    // What a closed connection held is released already.
    if (held === undefined || held.isCut) return
    held.bytes -= bytes
    this.#bytes -= bytes
    // The rest of a body that somebody has asked for is not held, and must come whatever others hold.
    if (held.bytes === 0 || (held.bytes <= this.#bounds.one && this.#bytes <= this.#bounds.all)) this.#goOnWith(socket)
    else if (held.bytes <= this.#bounds.one) this.#waiting.add(socket)
    this.#goOnSoon()
  }

  #heldOf(socket: Socket): Held {
    const known = this.#held.get(socket)
    if (known !== undefined) return known
    const held = { bytes: 0, isCut: socket.closed }
    if (socket.closed) return held
    this.#held.set(socket, held)
    socket.once('close', () => {
      this.#forget(socket, held)
      this.#held.delete(socket)
    })
    return held
  }

  /** Not whoever comes when others hold all there may be: of two that hold as much it is the one that brings more. */
  #cutLargest(socket: Socket, held: Held): void {
    let largest: readonly [Socket, Held] = [socket, held]
    for (const each of this.#held) if (each[1].bytes > largest[1].bytes) largest = each
    this.#forget(...largest)
    largest[0].destroy()
  }

  #forget(socket: Socket, held: Held): void {
    this.#bytes -= held.bytes
    held.bytes = 0
    held.isCut = true
    this.#waiting.delete(socket)
    this.#goOnSoon()
  }

  #goOnWith(socket: Socket): void {
    this.#waiting.delete(socket)
    goOnReading(socket, 'bodies')
  }

  #goOnSoon(): void {
    if (this.#isGoingOn || this.#waiting.size === 0 || this.#bytes > this.#bounds.all) return
    this.#isGoingOn = true
    setImmediate(() => {
      this.#isGoingOn = false
      // As many as there is room for if each brings what it may, and one in any case.
      let room = this.#bounds.all - this.#bytes
      for (const socket of this.#waiting) {
        if (room < 0) break
        room -= this.#bounds.one
        this.#goOnWith(socket)
      }
      this.#goOnSoon()
    })
  }
}

const ofAll = new UnaskedBodies()

export const holdUnasked = (socket: Socket, part: Buffer): number => ofAll.hold(socket, part)
export const releaseUnasked = (socket: Socket, bytes: number): void => ofAll.release(socket, bytes)
