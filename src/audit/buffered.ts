// Events that wait: requests go on at once, and the events follow in batches, at a bounded rate. What finds no room is lost, and counted.

import { timerMs } from '../base/clock.js'
import type { AuditTallies, Backend } from './backend.js'
import type { AuditEvent } from './record.js'

/**
 * What may wait together with what is on its way, at two bytes a character: bodies make events long, so that their number is no bound. One
 * alone is taken however long it is.
 */
export const mostHeldBytes = 64 << 20

export interface Batching {
  /** Events that may wait. */
  readonly bufferSize: number
  readonly maxBatch: number
  /** How long a batch that is not full is waited for; 0: not at all. */
  readonly maxWaitMs: number
  /** Undefined: as quickly as they come. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
  /** How many batches may be under way at once. */
  readonly atOnce: number
}

export interface BufferedParts {
  readonly backend: Backend
  readonly batching: Batching
  readonly tallies: AuditTallies
  readonly mostBytes?: number
}

export class Buffered implements Backend {
  readonly #parts: BufferedParts
  readonly #tokens: TokenBucket | undefined
  #waiting: AuditEvent[] = []
  /** Where those begin that still wait. */
  #first = 0
  #timer: NodeJS.Timeout | undefined
  #underWay = 0
  #heldBytes = 0
  #isPumping = false
  #isClosed = false
  #idle: (() => void) | undefined

  constructor(parts: BufferedParts) {
    this.#parts = parts
    this.#tokens = parts.batching.throttle && new TokenBucket(parts.batching.throttle)
  }

  process(events: readonly AuditEvent[]): boolean {
    const { batching, tallies, mostBytes = mostHeldBytes } = this.#parts
    for (const event of events) {
      const bytes = heldBytes(event)
      const hasRoom = this.#length < batching.bufferSize && (this.#heldBytes === 0 || this.#heldBytes + bytes <= mostBytes)
      if (hasRoom && !this.#isClosed) {
        this.#waiting.push(event)
        this.#heldBytes += bytes
      } else tallies.countLost('buffered', 1)
    }
    this.#schedule()
    return true
  }

  #schedule(): void {
    const { maxBatch, maxWaitMs } = this.#parts.batching
    if (this.#length >= maxBatch || maxWaitMs === 0) this.#pumpSoon()
    else if (this.#length > 0) this.#timer ??= setTimeout(() => this.#pump(), timerMs(maxWaitMs)).unref()
  }

  get #length(): number {
    return this.#waiting.length - this.#first
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await new Promise<void>((resolve) => {
      this.#idle = resolve
      this.#pump()
    })
    await this.#parts.backend.close()
  }

  #pumpSoon(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    setImmediate(() => {
      this.#isPumping = false
      this.#pump()
    })
  }

  #pump(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { backend, batching } = this.#parts
    while (this.#length > 0 && this.#underWay < batching.atOnce) {
      const waitMs = this.#isClosed ? 0 : (this.#tokens?.take(performance.now()) ?? 0)
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#pump(), timerMs(waitMs)).unref()
        return
      }
      const batch = this.#take(batching.maxBatch)
      const done = backend.process(batch)
      if (done instanceof Promise) this.#follow(done, batch)
      else this.#release(batch)
    }
    if (this.#length === 0 && this.#underWay === 0) this.#idle?.()
  }

  #take(count: number): readonly AuditEvent[] {
    const batch = this.#waiting.slice(this.#first, this.#first + count)
    this.#first += batch.length
    if (this.#first * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#first)
      this.#first = 0
    }
    return batch
  }

  #follow(done: Promise<boolean>, batch: readonly AuditEvent[]): void {
    this.#underWay++
    void done.finally(() => {
      this.#underWay--
      this.#release(batch)
      // The timer of those that wait may have passed while nothing could be sent.
      if (this.#isClosed) this.#pump()
      else this.#schedule()
    })
  }

  #release(batch: readonly AuditEvent[]): void {
    for (const event of batch) this.#heldBytes -= heldBytes(event)
  }
}

export const heldBytes = ({ text }: AuditEvent): number => text.length * 2

/** So many at once, and so many a second. */
class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #atMs = 0

  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#perMs = perSecond / 1000
    this.#burst = Math.max(1, burst)
    this.#tokens = this.#burst
  }

  /** Takes one, or tells how long it will be until there is one. */
  take(nowMs: number): number {
    if (this.#atMs > 0) this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#atMs) * this.#perMs)
    this.#atMs = nowMs
    if (this.#tokens >= 1) {
      this.#tokens--
      return 0
    }
    return this.#perMs === 0 ? 1000 : Math.ceil((1 - this.#tokens) / this.#perMs)
  }
}
