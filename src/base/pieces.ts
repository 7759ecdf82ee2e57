// Long work cut into pieces of a few milliseconds, with a turn of the event loop for everybody else between two of them.
//
// Everything that can take longer than a piece goes through here: nothing that one client asks for may hold the others.

/** How long a piece may take. */
export const pieceMs = 5

/** The clock of one piece of work: ask `isOver` after each step, and await `next` when it is. */
export class Pieces {
  #begunMs = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#begunMs >= pieceMs
  }

  /** Lets everybody else have a turn. */
  async next(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#begunMs = performance.now()
  }
}

/**
 * Runs a generator to its end and gives what it returns. It yields after each step that is short by itself; it goes on at once while there is
 * time left in the piece. A signal that is aborted ends it between two pieces: the generator is closed, and the reason thrown.
 */
export async function inPieces<T>(work: Generator<unknown, T, void>, signal?: AbortSignal): Promise<T> {
  const pieces = new Pieces()
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (!pieces.isOver) continue
    await pieces.next()
    if (!signal?.aborted) continue
    work.return(undefined as T)
    signal.throwIfAborted()
  }
}
