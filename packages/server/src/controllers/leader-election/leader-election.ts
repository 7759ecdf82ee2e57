// Leader election by a lease, timed by a monotonic clock. Briefly having two leaders is harmless: controllers are idempotent.

import { systemTimers, type Timers, waitAtMost } from '@cluster-apiserver/api/base/clock.js'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'

export interface Controller {
  close(): Promise<void>
  readonly isIdle?: boolean
  /** Keys that are queued or running. */
  readonly busyKeys?: readonly string[]
  /** Processes delayed keys now that are due within `withinMs`. */
  expedite?(withinMs: number): void
}

export interface LeaseState {
  /** Changes with every write. */
  readonly version: string
  /** Empty if released. */
  readonly holder: string
  readonly durationMs: number
}

export interface LeaseStore {
  read(): LeaseState | undefined
  /** Writes the holder if the lease is still as `expected`; an empty holder releases it. Returns false after a conflict. */
  write(holder: string, expected: LeaseState | undefined): Promise<boolean>
}

interface ElectionTimes {
  readonly renewMs: number
  /** A leader that could not renew for this long stops; shorter than the lease. */
  readonly giveUpMs: number
  readonly pollMs: number
}

interface ElectionOptions {
  readonly store: LeaseStore
  /** Unique name of this replica. */
  readonly holder: string
  readonly start: () => readonly Controller[]
  readonly logger: Logger
  readonly times?: ElectionTimes
  readonly timers?: Timers
}

export const leaseMs = 15_000
const defaultTimes: ElectionTimes = { renewMs: 3000, giveUpMs: 10_000, pollMs: 1000 }

/** Time that a shutdown waits for the store; afterwards the lease expires. */
const closeTimeoutMs = 2000

export class LeaderElection implements Controller {
  readonly #options: ElectionOptions
  readonly #times: ElectionTimes
  readonly #timers: Timers
  #controllers: readonly Controller[] | undefined
  #stopping: Promise<unknown> = Promise.resolve()
  #observed: { readonly version: string; readonly sinceMs: number } | undefined
  #cancelAttempt: (() => void) | undefined
  #cancelDeadline: (() => void) | undefined
  #attempt: Promise<void>
  #isClosed = false

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#times = options.times ?? defaultTimes
    this.#timers = options.timers ?? systemTimers
    this.#attempt = this.#runAttempt()
  }

  get isIdle(): boolean {
    return (this.#controllers ?? []).every(({ isIdle = true }) => isIdle)
  }

  expedite(withinMs: number): void {
    for (const controller of this.#controllers ?? []) controller.expedite?.(withinMs)
  }

  get isLeading(): boolean {
    return this.#controllers !== undefined
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelAttempt?.()
    await waitAtMost(closeTimeoutMs, this.#release())
    // After a timeout of the release, the controllers are still running.
    this.#stop()
  }

  async #release(): Promise<void> {
    await this.#attempt
    this.#stop()
    await this.#stopping
    const { store, holder, logger } = this.#options
    try {
      const expected = store.read()
      // The lease may have been acquired without starting controllers.
      if (expected?.holder === holder) await store.write('', expected)
    } catch (error) {
      logger.info({ error: errorMessage(error) }, 'cannot release the leader election lease; it will expire')
    }
  }

  async #runAttempt(): Promise<void> {
    try {
      await this.#acquireOrRenew()
    } catch (error) {
      this.#options.logger.warn({ error: errorMessage(error) }, 'cannot write the leader election lease; retrying')
    }
    if (this.#isClosed) return
    this.#cancelAttempt = this.#timers.after(this.isLeading ? this.#times.renewMs : this.#times.pollMs, () => {
      this.#attempt = this.#runAttempt()
    })
  }

  async #acquireOrRenew(): Promise<void> {
    const { store, holder, logger } = this.#options
    // Count from before the write; other replicas count from the write.
    const untilMs = this.#timers.now() + this.#times.giveUpMs
    const expected = store.read()
    if (this.isLeading && expected !== undefined && expected.holder !== holder) {
      logger.info({ leader: expected.holder }, 'lost leadership: another replica runs the controllers')
      this.#stop()
    }
    if (!this.#isFree(expected) || !(await store.write(holder, expected)) || this.#isClosed) return
    this.#cancelDeadline?.()
    this.#cancelDeadline = this.#timers.after(Math.max(0, untilMs - this.#timers.now()), () => this.#giveUp())
    if (this.isLeading) return
    await this.#stopping
    // Another replica may have the lease by now; the next attempt writes it again.
    if (this.#timers.now() >= untilMs) return
    logger.info({ leader: holder }, 'became leader: this replica runs the controllers')
    this.#controllers = this.#options.start()
  }

  #isFree(lease: LeaseState | undefined): boolean {
    if (lease === undefined || lease.holder === '' || lease.holder === this.#options.holder) return true
    const nowMs = this.#timers.now()
    if (this.#observed?.version !== lease.version) this.#observed = { version: lease.version, sinceMs: nowMs }
    return nowMs - this.#observed.sinceMs >= lease.durationMs
  }

  #giveUp(): void {
    if (this.isLeading) this.#options.logger.warn({}, 'lost leadership: cannot renew the lease in time; this replica stops its controllers')
    this.#stop()
  }

  #stop(): void {
    this.#cancelDeadline?.()
    const controllers = this.#controllers ?? []
    this.#controllers = undefined
    this.#stopping = Promise.allSettled([this.#stopping, ...controllers.map((controller) => controller.close())])
  }
}
