// Several things at a time, and never more: writes share durable commits without flooding the store.

/** Resolves when all are done, also when some fail; then rejects with the first reason. Those that have not begun when one fails are left out. */
export async function inParallel<T>(items: readonly T[], width: number, visit: (item: T) => Promise<void>): Promise<void> {
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
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, work))
  if (failures.length > 0) throw failures[0]
}
