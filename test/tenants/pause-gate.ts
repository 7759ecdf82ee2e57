// Stops all lanes (sequential clients) between two requests, so that the store can be compared with the expected content.

export class PauseGate {
  #running = 0
  #isPaused = false
  #waiting: (() => void)[] = []
  #whenIdle: (() => void) | undefined

  /** A lane starts. */
  enter(): void {
    this.#running += 1
  }

  /** A lane ends or waits. */
  leave(): void {
    this.#running -= 1
    this.#resolveIfIdle()
  }

  /** Waits while the gate is paused. */
  async pass(): Promise<void> {
    if (!this.#isPaused) return
    this.leave()
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.enter()
  }

  /** Runs `work` when all lanes wait. */
  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    this.#isPaused = true
    await new Promise<void>((resolve) => {
      this.#whenIdle = resolve
      this.#resolveIfIdle()
    })
    try {
      return await work()
    } finally {
      this.#isPaused = false
      for (const resume of this.#waiting.splice(0)) resume()
    }
  }

  #resolveIfIdle(): void {
    if (!this.#isPaused || this.#running > 0) return
    this.#whenIdle?.()
    this.#whenIdle = undefined
  }
}
