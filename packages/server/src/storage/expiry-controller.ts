// Deletes expired keys in the memory and LMDB engines; etcd has leases.

import type { Clock, Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { CommitOutcome, Write } from './storage.js'
import type { StoredReads } from './stored-reads.js'

interface ExpirySource extends Pick<StoredReads, 'nextExpiryMs' | 'expired'> {
  commit(writes: readonly Write[]): Promise<CommitOutcome>
}

interface ExpiryOptions {
  readonly clock: Clock
  readonly timers: Timers
  readonly logger: Logger
  readonly source: ExpirySource
}

/** Short, because a full disk may have space again. */
const retryMs = 1000
const keysPerRound = 500

export class ExpiryController {
  readonly #options: ExpiryOptions
  #cancel: (() => void) | undefined
  #wakesAtMs = Number.POSITIVE_INFINITY
  #isRunning = false
  #isClosed = false

  constructor(options: ExpiryOptions) {
    this.#options = options
  }

  /** Starts to delete keys. Call it again after keys have changed in bulk. */
  start(): void {
    this.#sleep()
  }

  onExpiry(expiresAtMs: number): void {
    if (!this.#isRunning && expiresAtMs < this.#wakesAtMs) this.#sleepUntil(expiresAtMs)
  }

  close(): void {
    this.#isClosed = true
    this.#cancel?.()
  }

  #sleep(): void {
    const next = this.#options.source.nextExpiryMs()
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    if (next !== undefined) this.#sleepUntil(next)
  }

  #sleepUntil(timeMs: number): void {
    if (this.#isClosed) return
    this.#cancel?.()
    this.#wakesAtMs = timeMs
    const { clock, timers } = this.#options
    this.#cancel = timers.after(Math.max(timeMs - clock.now(), 1), () => this.#run())
  }

  async #run(): Promise<void> {
    const { clock, logger, source } = this.#options
    this.#isRunning = true
    try {
      const expiredKeys = source.expired(clock.now(), keysPerRound)
      // One commit per key, so that a conflict on one does not block the others.
      await Promise.all(expiredKeys.map(({ key, revision }) => source.commit([{ key, value: undefined, expect: revision }])))
      this.#isRunning = false
      if (!this.#isClosed) this.#sleep()
    } catch (error) {
      this.#isRunning = false
      if (this.#isClosed) return
      logger.warn({ error }, 'cannot delete expired keys; retrying')
      this.#sleepUntil(clock.now() + retryMs)
    }
  }
}
