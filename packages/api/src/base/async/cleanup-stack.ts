// Cleanup steps of opened resources, run in reverse order.

export class CleanupStack {
  private readonly steps: (() => unknown)[] = []
  private closed: Promise<void> | undefined

  add(step: () => unknown): void {
    this.steps.push(step)
  }

  /** Runs every step once, even if one fails, then throws the first failure. Later calls return the same promise. */
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
