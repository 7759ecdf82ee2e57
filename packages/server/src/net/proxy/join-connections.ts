// Joins two upgraded connections: copies bytes in both directions with back-pressure, until one of them ends.

import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { exemptFromStallCheck } from '../listen/stalled-connections.js'
import { ReadPacing } from './read-pacing.js'

interface JoinOptions {
  readonly idleMs: number
  /** Rate limit in each direction; undefined: none. */
  readonly bytesPerSecond?: number | undefined
  /** Time that one side may continue after the other has ended. */
  readonly lingerMs?: number
}

const defaultLingerMs = 10_000
/** TCP keep-alive detects dead peers. */
const keepAliveMs = 30_000

/** Resolves when both connections are closed. */
export function joinConnections(a: Socket, b: Duplex, { idleMs, bytesPerSecond, lingerMs = defaultLingerMs }: JoinOptions): Promise<void> {
  return new Promise((resolve) => {
    let open = 2
    let hasData = false
    let lingerTimer: NodeJS.Timeout | undefined
    const destroyBoth = (): void => {
      a.destroy()
      b.destroy()
    }
    // One timer for both directions, so that no timer is reset per chunk.
    const idleTimer = setInterval(() => {
      if (!hasData) destroyBoth()
      hasData = false
    }, idleMs)
    const onClose = (): void => {
      open--
      lingerTimer ??= setTimeout(destroyBoth, lingerMs)
      if (open > 0) return
      clearInterval(idleTimer)
      clearTimeout(lingerTimer)
      resolve()
    }
    for (const side of [a, b]) {
      side.on('error', destroyBoth)
      side.once('close', onClose)
      exemptFromStallCheck(side)
      if ('setKeepAlive' in side) (side as Socket).setTimeout(0).setKeepAlive(true, keepAliveMs)
    }
    const copy = (from: Duplex, to: Duplex): void => {
      const rate = bytesPerSecond === undefined ? undefined : new RateLimit(from, to, bytesPerSecond)
      const pacing = new ReadPacing(from, () => to.writableNeedDrain || rate?.isPaused === true)
      from.on('data', (chunk: Buffer) => {
        hasData = true
        pacing.count(chunk.length)
        if (!to.write(chunk)) from.pause()
        rate?.count(chunk.length)
      })
      to.on('drain', () => rate?.isPaused || from.resume())
      // Flushes written bytes, then closes.
      from.once('end', () => {
        to.end()
        lingerTimer ??= setTimeout(destroyBoth, lingerMs)
      })
      from.once('close', () => to.destroyed || to.end(() => to.destroy()))
    }
    copy(a, b)
    copy(b, a)
    if (a.destroyed || b.destroyed) destroyBoth()
    a.resume()
    b.resume()
    if (a.closed) onClose()
    if (b.closed) onClose()
  })
}

/** Pauses a stream that exceeds a rate. */
class RateLimit {
  isPaused = false
  readonly #from: Duplex
  readonly #to: Duplex
  readonly #bytesPerMs: number
  #paidUntilMs = 0

  constructor(from: Duplex, to: Duplex, bytesPerSecond: number) {
    this.#from = from
    this.#to = to
    this.#bytesPerMs = bytesPerSecond / 1000
  }

  count(bytes: number): void {
    const now = performance.now()
    this.#paidUntilMs = Math.max(now, this.#paidUntilMs) + bytes / this.#bytesPerMs
    const waitMs = this.#paidUntilMs - now
    if (waitMs < minPauseMs || this.isPaused) return
    this.isPaused = true
    this.#from.pause()
    setTimeout(() => {
      this.isPaused = false
      if (!this.#to.writableNeedDrain) this.#from.resume()
    }, waitMs).unref()
  }
}

const minPauseMs = 20
