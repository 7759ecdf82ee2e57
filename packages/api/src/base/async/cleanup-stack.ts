// What was opened is closed in the opposite order, whether the rest succeeded or not.

export class Closing {
  private readonly steps: (() => unknown)[] = []
  private closed: Promise<void> | undefined

  add(step: () => unknown): void {
    this.steps.push(step)
  }

  /**
   * Runs every step once, the last one first. A step that fails does not keep the others from running; the first failure is thrown. Whoever
   * calls it again waits for the same: no step begins before the one in front of it has ended.
   */
  close(): Promise<void> {
    this.closed ??= this.run()
    return this.closed
  }

  private async run(): Promise<void> {
    const failures: unknown[] = []
    for (let step = this.steps.pop(); step !== undefined; step = this.steps.pop()) {
      try {
        await step()
      } catch (thrown) {
        failures.push(thrown)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
