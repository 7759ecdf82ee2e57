// Runs an async function over items with bounded concurrency: writes share durable commits without flooding the store.

/** After a failure no further visit starts; the returned promise rejects with the first failure once all running visits have ended. */
export async function inParallel<T>(items: readonly T[], concurrency: number, visit: (item: T) => Promise<void>): Promise<void> {
  let next = 0
  const failures: unknown[] = []
  async function work(): Promise<void> {
    while (next < items.length && failures.length === 0) {
      try {
        await visit(items[next++] as T)
      } catch (thrown) {
        failures.push(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work))
  if (failures.length > 0) throw failures[0]
}
