// Events that wait: requests go on at once, and the events follow in batches, at a bounded rate. What finds no room is lost, and counted.

import type { AuditTallies, Backend } from './backend.js'
import type { AuditEvent } from './record.js'

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
}

export class Buffered implements Backend {
  readonly #parts: BufferedParts
  readonly #tokens: TokenBucket | undefined
  #waiting: AuditEvent[] = []
  /** Where those begin that still wait. */
  #first = 0
  #timer: NodeJS.Timeout | undefined
  #underWay = 0
  #isPumping = false
  #isClosed = false
  #idle: (() => void) | undefined

  constructor(parts: BufferedParts) {
    this.#parts = parts
    this.#tokens = parts.batching.throttle && new TokenBucket(parts.batching.throttle)
  }

  process(events: readonly AuditEvent[]): boolean {
    const { batching, tallies } = this.#parts
    for (const event of events) {
      if (this.#length < batching.bufferSize && !this.#isClosed) this.#waiting.push(event)
      else tallies.countLost('buffered', 1)
    }
    if (this.#length >= batching.maxBatch || batching.maxWaitMs === 0) this.#pumpSoon()
    else this.#timer ??= setTimeout(() => this.#pump(), batching.maxWaitMs).unref()
    return true
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
        this.#timer = setTimeout(() => this.#pump(), waitMs).unref()
        return
      }
      const done = backend.process(this.#take(batching.maxBatch))
      if (done instanceof Promise) this.#follow(done)
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

  #follow(done: Promise<boolean>): void {
    this.#underWay++
    void done.finally(() => {
      this.#underWay--
      if (this.#length >= this.#parts.batching.maxBatch || this.#isClosed) this.#pump()
    })
  }
}

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
