// Batching audit backend: requests do not wait; events are sent in batches at a limited rate. Events over the limits are lost and counted.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { AuditCounters, Backend } from './audit.js'
import type { AuditEvent } from './audit-record.js'

/** Limit of queued and in-flight events at two bytes per character; a single event is accepted whatever its length. */
export const maxBufferedBytes = 64 << 20

export interface BatchOptions {
  readonly bufferSize: number
  readonly maxBatch: number
  readonly maxWaitMs: number
  /** Undefined: no rate limit. */
  readonly throttle: { readonly perSecond: number; readonly burst: number } | undefined
  readonly maxConcurrentBatches: number
}

interface BufferedParts {
  readonly backend: Backend
  readonly batching: BatchOptions
  readonly counters: AuditCounters
  readonly maxBytes?: number
}

export class BufferedBackend implements Backend {
  readonly #parts: BufferedParts
  readonly #tokens: TokenBucket | undefined
  #queue: AuditEvent[] = []
  #head = 0
  #timer: NodeJS.Timeout | undefined
  #inFlight = 0
  #bufferedBytes = 0
  #isScheduled = false
  #isClosed = false
  #onIdle: (() => void) | undefined

  constructor(parts: BufferedParts) {
    this.#parts = parts
    this.#tokens = parts.batching.throttle && new TokenBucket(parts.batching.throttle)
  }

  async process(events: readonly AuditEvent[]): Promise<boolean> {
    const { batching, counters, maxBytes = maxBufferedBytes } = this.#parts
    for (const event of events) {
      const bytes = memoryBytes(event)
      const hasRoom = this.#length < batching.bufferSize && (this.#bufferedBytes === 0 || this.#bufferedBytes + bytes <= maxBytes)
      if (hasRoom && !this.#isClosed) {
        this.#queue.push(event)
        this.#bufferedBytes += bytes
      } else counters.countLost('buffered', 1)
    }
    this.#schedule()
    return true
  }

  #schedule(): void {
    const { maxBatch, maxWaitMs } = this.#parts.batching
    if (this.#length >= maxBatch || maxWaitMs === 0) this.#scheduleImmediate()
    else if (this.#length > 0) this.#timer ??= setTimeout(() => this.#sendBatches(), timerMs(maxWaitMs)).unref()
  }

  get #length(): number {
    return this.#queue.length - this.#head
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve
      this.#sendBatches()
    })
    await this.#parts.backend.close()
  }

  #scheduleImmediate(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      this.#sendBatches()
    })
  }

  #sendBatches(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const { backend, batching } = this.#parts
    while (this.#length > 0 && this.#inFlight < batching.maxConcurrentBatches) {
      const waitMs = this.#isClosed ? 0 : (this.#tokens?.take(performance.now()) ?? 0)
      if (waitMs > 0) {
        this.#timer = setTimeout(() => this.#sendBatches(), timerMs(waitMs)).unref()
        return
      }
      const batch = this.#dequeue(batching.maxBatch)
      this.#trackBatch(backend.process(batch), batch)
    }
    if (this.#length === 0 && this.#inFlight === 0) this.#onIdle?.()
  }

  #dequeue(count: number): readonly AuditEvent[] {
    const batch = this.#queue.slice(this.#head, this.#head + count)
    this.#head += batch.length
    if (this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    return batch
  }

  #trackBatch(done: Promise<boolean>, batch: readonly AuditEvent[]): void {
    this.#inFlight++
    void done.finally(() => {
      this.#inFlight--
      for (const event of batch) this.#bufferedBytes -= memoryBytes(event)
      if (this.#isClosed) this.#sendBatches()
      else this.#schedule()
    })
  }
}

export const memoryBytes = ({ text }: AuditEvent): number => text.length * 2

class TokenBucket {
  readonly #perMs: number
  readonly #burst: number
  #tokens: number
  #lastTakeMs = 0

  constructor({ perSecond, burst }: { readonly perSecond: number; readonly burst: number }) {
    this.#perMs = perSecond / 1000
    this.#burst = Math.max(1, burst)
    this.#tokens = this.#burst
  }

  /** Takes a token and returns 0, or returns the milliseconds until a token is available. */
  take(nowMs: number): number {
    if (this.#lastTakeMs > 0) this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#lastTakeMs) * this.#perMs)
    this.#lastTakeMs = nowMs
    if (this.#tokens >= 1) {
      this.#tokens--
      return 0
    }
    return this.#perMs === 0 ? 1000 : Math.ceil((1 - this.#tokens) / this.#perMs)
  }
}
