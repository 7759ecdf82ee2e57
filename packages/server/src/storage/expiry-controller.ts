// Deletes keys when their time has come, for engines whose store does not do so itself.

import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { CommitOutcome, Write } from './storage.js'

export interface DueKey {
  readonly key: string
  readonly revision: number
}

export interface ExpirySource {
  /** The earliest time at which a key expires. */
  nextExpiryMs(): number | undefined
  /** Up to `limit` keys that expired at or before `nowMs`. */
  expired(nowMs: number, limit: number): readonly DueKey[]
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}

export interface ExpiryOptions {
  readonly clock: Clock
  readonly logger: Logger
  readonly source: ExpirySource
}

/** Short enough that a clock which jumps, or a disk that has room again, is noticed soon. */
const longestSleepMs = 1000
const keysPerRound = 500

export class ExpiryLoop {
  readonly #options: ExpiryOptions
  #timer: NodeJS.Timeout | undefined
  #wakesAtMs = Number.POSITIVE_INFINITY
  #isRunning = false
  #isClosed = false

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  /** From now on keys are deleted, which are commits like any other. Again: there are others. */
  start(): void {
    this.#sleep()
  }

  /** A key with this expiry was written. */
  notice(expiresAtMs: number): void {
    if (!this.#isRunning && expiresAtMs < this.#wakesAtMs) this.#sleepUntil(expiresAtMs)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
  }

  #sleep(): void {
    const next = this.#options.source.nextExpiryMs()
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    if (next !== undefined) this.#sleepUntil(next)
  }

  #sleepUntil(timeMs: number): void {
    if (this.#isClosed) return
    clearTimeout(this.#timer)
    this.#wakesAtMs = timeMs
    const waitMs = Math.min(Math.max(timeMs - this.#options.clock.now(), 1), longestSleepMs)
    this.#timer = setTimeout(() => void this.#run(), waitMs).unref()
  }

  async #run(): Promise<void> {
    const { clock, logger, source } = this.#options
    this.#isRunning = true
    try {
      const due = source.expired(clock.now(), keysPerRound)
      // One commit each, so that a key written again in the meantime keeps only itself.
      await Promise.all(due.map(({ key, revision }) => source.commit([{ key, value: undefined, expect: revision }])))
      this.#isRunning = false
      if (!this.#isClosed) this.#sleep()
    } catch (error) {
      this.#isRunning = false
      if (this.#isClosed) return
      logger.warn({ error }, 'cannot delete expired keys; retrying')
      this.#sleepUntil(clock.now() + longestSleepMs)
    }
  }
}
