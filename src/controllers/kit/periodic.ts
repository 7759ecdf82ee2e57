// Something that is done again and again, one at a time: for what every server says of itself.
import { timerMs } from '../../base/clock.js'

export class Periodic {
  readonly #timer: NodeJS.Timeout
  #running: Promise<void> | undefined

  /** While the last one still runs, the next is left out. */
  constructor(intervalMs: number, work: () => Promise<void>) {
    this.#timer = setInterval(() => {
      this.#running ??= work().finally(() => {
        this.#running = undefined
      })
    }, timerMs(intervalMs))
    this.#timer.unref()
  }

  /** Lets nothing start any more, and waits for what runs. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#running
  }
}
