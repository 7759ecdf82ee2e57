// Coalescing what is asked for at about the same time, so that it can share the cost of a commit.

/** How long is waited while every turn brings more. */
const mostTurns = 8

/**
 * Calls back in the first turn of the event loop that has brought nothing more; a turn of an idle loop is short.
 * `size` says how much there is by now; undefined: enough. Where `isAlone` says that nobody else has asked lately, nobody is waited for.
 */
export function coalesce(size: () => number | undefined, done: () => void, isAlone: boolean): void {
  if (isAlone) {
    queueMicrotask(done)
    return
  }
  let counted = 0
  let turns = 0
  const endTurn = (): void => {
    const now = size()
    if (now === undefined || now <= counted || turns === mostTurns) {
      done()
      return
    }
    counted = now
    turns += 1
    setImmediate(endTurn)
  }
  setImmediate(endTurn)
}
