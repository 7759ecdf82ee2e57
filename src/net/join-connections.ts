// Two connections that become one: what comes from either goes to the other, no faster than it is taken there, until one of them ends.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { ReadPauses } from './read-pauses.js'
import { setRoom, streamRoomBytes } from './socket-room.js'
import { bePatientWith } from './stalled-connections.js'

export interface Joining {
  /** How long nothing may come from either. */
  readonly idleMs: number
  /** In each direction; left out: as much as there is. */
  readonly bytesPerSecond?: number | undefined
  /** How long one side may go on after the other has ended. */
  readonly lingerMs?: number
}

const usualLingerMs = 10_000
/** So a side that has died without a word is found. */
const keepAliveMs = 30_000

/** Resolves when both are closed. */
export function joinConnections(a: Socket, b: Duplex, { idleMs, bytesPerSecond, lingerMs = usualLingerMs }: Joining): Promise<void> {
  return new Promise((resolve) => {
    let open = 2
    let isHeard = false
    let linger: NodeJS.Timeout | undefined
    const cut = (): void => {
      a.destroy()
      b.destroy()
    }
    // One timer for both, that asks whether anything came, costs nothing per byte.
    const idle = setInterval(() => {
      if (!isHeard) cut()
      isHeard = false
    }, idleMs)
    const closed = (): void => {
      open--
      linger ??= setTimeout(cut, lingerMs)
      if (open > 0) return
      clearInterval(idle)
      clearTimeout(linger)
      resolve()
    }
    for (const side of [a, b]) {
      side.on('error', cut)
      side.once('close', closed)
      setRoom(side, streamRoomBytes)
      bePatientWith(side)
      if ('setKeepAlive' in side) (side as Socket).setTimeout(0).setKeepAlive(true, keepAliveMs)
    }
    const pass = (from: Duplex, to: Duplex): void => {
      const pace = bytesPerSecond === undefined ? undefined : new Pace(from, to, bytesPerSecond)
      const pauses = new ReadPauses(from as Socket)
      from.on('data', (chunk: Buffer) => {
        isHeard = true
        pauses.count(chunk.length)
        if (!to.write(chunk)) from.pause()
        pace?.count(chunk.length)
      })
      to.on('drain', () => pace?.isHolding || from.resume())
      // What was on its way is still delivered, and then there is nobody to answer to.
      from.once('end', () => {
        to.end()
        linger ??= setTimeout(cut, lingerMs)
      })
      from.once('close', () => to.destroyed || to.end(() => to.destroy()))
    }
    pass(a, b)
    pass(b, a)
    if (a.destroyed || b.destroyed) cut()
    a.resume()
    b.resume()
    if (a.closed) closed()
    if (b.closed) closed()
  })
}

/** Holds a side back that has sent more than its share of a moment. */
class Pace {
  isHolding = false
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #bytesPerMs: number
  #spentUntilMs = 0

  constructor(from: Duplex, to: Duplex, bytesPerSecond: number) {
    this.#from = from
    this.#to = to
    this.#bytesPerMs = bytesPerSecond / 1000
  }

  count(bytes: number): void {
    const now = performance.now()
    this.#spentUntilMs = Math.max(now, this.#spentUntilMs) + bytes / this.#bytesPerMs
    const waitMs = this.#spentUntilMs - now
    if (waitMs < shortestHoldMs || this.isHolding) return
    this.isHolding = true
    this.#from.pause()
    setTimeout(() => {
      this.isHolding = false
      if (!this.#to.writableNeedDrain) this.#from.resume()
    }, waitMs).unref()
  }
}

const shortestHoldMs = 20
