// Periodic work and time budgets of controllers.

import { setMaxListeners } from 'node:events'
import { systemTimers, type Timers } from '@cluster-apiserver/api/base/clock.js'
import { backgroundBudget, TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'

/** Turn budgets measure CPU time: a movable clock must not measure it. */
export const budgetOf = (pacing: Timers | undefined): TurnBudget =>
  pacing === undefined || pacing === systemTimers ? backgroundBudget : new TurnBudget(pacing.now)

export class Periodic {
  readonly #work: () => Promise<void>
  readonly #cancel: () => void
  #running: Promise<void> | undefined

  /** A run is skipped while the previous one lasts. */
  constructor(intervalMs: number, work: () => Promise<void>, timers: Timers = systemTimers) {
    this.#work = work
    this.#cancel = timers.every(intervalMs, () => this.#run())
  }

  #run(): Promise<void> {
    this.#running ??= this.#work().finally(() => {
      this.#running = undefined
    })
    return this.#running
  }

  async close(): Promise<void> {
    this.#cancel()
    await this.#running
  }
}

/** Node.js does not warn about more than ten listeners of its signal. */
export function newAbortController(): AbortController {
  const stop = new AbortController()
  setMaxListeners(0, stop.signal)
  return stop
}
