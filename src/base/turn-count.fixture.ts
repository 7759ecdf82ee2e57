// Counts the turns of the event loop while something is done, for tests of what takes turns.

export interface TurnCount {
  readonly turn: number
}

export async function whileCounting<T>(work: (count: TurnCount) => Promise<T>): Promise<T> {
  const count = { turn: 0 }
  let isDone = false
  const next = (): void => {
    count.turn += 1
    if (!isDone) setImmediate(next)
  }
  setImmediate(next)
  try {
    return await work(count)
  } finally {
    isDone = true
  }
}
