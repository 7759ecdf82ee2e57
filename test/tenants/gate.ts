// Stops all lanes between two requests, so that the store can be compared with what they have written.

export class Gate {
  /** Lanes that may have a request under way. */
  #running = 0
  #isShut = false
  #open: (() => void)[] = []
  #whenStill: (() => void) | undefined

  enter(): void {
    this.#running += 1
  }

  leave(): void {
    this.#running -= 1
    this.#look()
  }

  /** Resolves when the lane may go on. */
  async pass(): Promise<void> {
    if (!this.#isShut) return
    this.leave()
    await new Promise<void>((resolve) => this.#open.push(resolve))
    this.enter()
  }

  /** Runs `work` while no lane has a request under way. */
  async whileStill<T>(work: () => Promise<T>): Promise<T> {
    this.#isShut = true
    await new Promise<void>((resolve) => {
      this.#whenStill = resolve
      this.#look()
    })
    try {
      return await work()
    } finally {
      this.#isShut = false
      for (const open of this.#open.splice(0)) open()
    }
  }

  #look(): void {
    if (!this.#isShut || this.#running > 0) return
    this.#whenStill?.()
    this.#whenStill = undefined
  }
}
