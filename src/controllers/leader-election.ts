// Loops of which one replica at a time shall run its own: whoever holds the lease. A leader that is gone is replaced when its lease has run out, one
// that ends gives it back. Times are measured by this process's own clock, so clocks need not agree.
//
// What loops write has conditions of its own, so two leaders for a moment do double work and no harm.

import { atMost } from '../base/clock.js'
import type { Logger } from '../base/logger.js'

/** Something that runs until it is closed. */
export interface Loop {
  close(): Promise<void>
  /** Whether there is nothing that it could do now: what it does later, it does because of something else or because time has passed. */
  readonly isIdle?: boolean
  /** What it would do within so long, it does now. */
  hurry?(withinMs: number): void
}

export interface LeaseState {
  /** Another one after every write. */
  readonly version: string
  /** Empty: nobody. */
  readonly holder: string
  readonly durationMs: number
}

/** Where the lease is kept. */
export interface LeaseKeeper {
  /** As it is known here; undefined: there is none. */
  read(): LeaseState | undefined
  /** Gives the lease to a holder, or to nobody, if it is as it was seen; false when somebody else was quicker. */
  write(holder: string, seen: LeaseState | undefined): Promise<boolean>
}

export interface ElectionTimes {
  /** How often the leader renews. */
  readonly renewMs: number
  /** After so long without having renewed, a leader stops leading; less than the lease lasts. */
  readonly giveUpMs: number
  /** How often the others look. */
  readonly lookMs: number
}

export interface ElectionOptions {
  readonly keeper: LeaseKeeper
  /** Who this replica is; no other one that runs is called the same. */
  readonly holder: string
  readonly start: () => readonly Loop[]
  readonly logger: Logger
  readonly times?: ElectionTimes
}

/** How long a lease lasts that nobody renews. */
export const leaseMs = 15_000
const usualTimes: ElectionTimes = { renewMs: 3000, giveUpMs: 10_000, lookMs: 1000 }

/** An end does not wait longer than this for a store that cannot be used: then the lease runs out. */
const endMs = 2000

export class LeaderElection implements Loop {
  readonly #options: ElectionOptions
  readonly #times: ElectionTimes
  #loops: readonly Loop[] | undefined
  #stopping: Promise<unknown> = Promise.resolve()
  #seen: { readonly version: string; readonly sinceMs: number } | undefined
  #timer: NodeJS.Timeout | undefined
  #givingUp: NodeJS.Timeout | undefined
  #turn: Promise<void>
  #isClosed = false

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#times = options.times ?? usualTimes
    this.#turn = this.#takeTurn()
  }

  /** Those that run elsewhere are not known here. */
  get isIdle(): boolean {
    return (this.#loops ?? []).every(({ isIdle = true }) => isIdle)
  }

  hurry(withinMs: number): void {
    for (const loop of this.#loops ?? []) loop.hurry?.(withinMs)
  }

  get isLeading(): boolean {
    return this.#loops !== undefined
  }

  /** Ends the loops, and gives the lease back so that another replica need not wait for its end. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await atMost(endMs, this.#end())
    // They may still wait for a store that does not answer.
    this.#stop()
  }

  async #end(): Promise<void> {
    await this.#turn
    this.#stop()
    await this.#stopping
    const { keeper, holder, logger } = this.#options
    try {
      const seen = keeper.read()
      // Also where it was written in the last turn, and nothing begun with it.
      if (seen?.holder === holder) await keeper.write('', seen)
    } catch (error) {
      logger.info({ reason: reasonOf(error) }, 'cannot release the lease of the loops')
    }
  }

  async #takeTurn(): Promise<void> {
    try {
      await this.#attempt()
    } catch (error) {
      this.#options.logger.warn({ reason: reasonOf(error) }, 'cannot write the lease of the loops; retrying')
    }
    if (this.#isClosed) return
    this.#timer = setTimeout(
      () => {
        this.#turn = this.#takeTurn()
      },
      this.isLeading ? this.#times.renewMs : this.#times.lookMs,
    )
  }

  async #attempt(): Promise<void> {
    const { keeper, holder, logger } = this.#options
    // Others count from the write, and this one from before it: its answer may take long.
    const untilMs = performance.now() + this.#times.giveUpMs
    const seen = keeper.read()
    if (this.isLeading && seen !== undefined && seen.holder !== holder) {
      logger.info({ leader: seen.holder }, 'lost leadership: another replica runs the loops')
      this.#stop()
    }
    if (!this.#isFree(seen) || !(await keeper.write(holder, seen)) || this.#isClosed) return
    clearTimeout(this.#givingUp)
    this.#givingUp = setTimeout(() => this.#giveUp(), Math.max(0, untilMs - performance.now()))
    if (this.isLeading) return
    await this.#stopping
    // Another one may have the lease by now: it is written anew in the next turn.
    if (performance.now() >= untilMs) return
    logger.info({ holder }, 'became leader: this replica runs the loops')
    this.#loops = this.#options.start()
  }

  /** Whether this replica may have the lease: it has it, nobody has it, or whoever has it did not renew it while it was watched from here. */
  #isFree(lease: LeaseState | undefined): boolean {
    if (lease === undefined || lease.holder === '' || lease.holder === this.#options.holder) return true
    const nowMs = performance.now()
    if (this.#seen?.version !== lease.version) this.#seen = { version: lease.version, sinceMs: nowMs }
    return nowMs - this.#seen.sinceMs >= lease.durationMs
  }

  #giveUp(): void {
    if (this.isLeading) this.#options.logger.warn({}, 'lost leadership: cannot renew the lease of the loops in time')
    this.#stop()
  }

  #stop(): void {
    clearTimeout(this.#givingUp)
    const loops = this.#loops ?? []
    this.#loops = undefined
    this.#stopping = Promise.allSettled([this.#stopping, ...loops.map((loop) => loop.close())])
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
