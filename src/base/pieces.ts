// Long work cut into pieces of a few milliseconds, with a turn of the event loop for everybody else between two of them.
//
// Everything that can take longer than a piece goes through here: nothing that one client asks for may hold the others.

import type { Promised } from './promised.js'

/** How long a piece may take: with its last step and what is written of it, a turn has about 5 ms. */
const pieceMs = 3

/** Works that wait for their next piece, the first of them first. */
const waiting: (() => void)[] = []

/** One piece per turn: many works at a time take as long as they take, and others wait for one piece only. */
function takeTurn(): void {
  waiting.shift()?.()
  if (waiting.length > 0) setImmediate(takeTurn)
}

/**
 * What has begun while connections were read would go on before they are looked at again: immediates of that phase run right behind it, and two
 * pieces would be one turn.
 */
const takeNextTurn = (): void => void setImmediate(takeTurn)

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(takeNextTurn)
  })
}

/** Tells when a piece of work is over: ask `isOver` after each step, and await `next` when it is. */
export interface PieceClock {
  readonly isOver: boolean
  /** Lets everybody else have a turn. */
  next(): Promise<void>
}

/** For work that is short, or that nobody else waits for. */
export const uncut: PieceClock = { isOver: false, next: async () => undefined }

export class Pieces implements PieceClock {
  readonly #check: (() => void) | undefined
  #begunMs = performance.now()

  /** `check` is called before each piece but the first, and throws when nobody wants the work any more. */
  constructor(check?: () => void) {
    this.#check = check
  }

  get isOver(): boolean {
    return performance.now() - this.#begunMs >= pieceMs
  }

  async next(): Promise<void> {
    await nextTurn()
    this.#begunMs = performance.now()
    this.#check?.()
  }
}

/**
 * One clock for works that wait for other things between their steps, such as the loops of a server: what all of them do in one turn of the event
 * loop is one piece. Each asks before each of its steps.
 */
export class SharedPieces implements PieceClock {
  readonly #now: () => number
  /** Since when there was work in this turn. */
  #begunMs: number | undefined

  /** `now`: milliseconds that only grow. */
  constructor(now = (): number => performance.now()) {
    this.#now = now
  }

  get isOver(): boolean {
    const nowMs = this.#now()
    return nowMs - this.#begun(nowMs) >= pieceMs
  }

  /** Whoever goes on may ask only behind the first step: it counts as well. */
  async next(): Promise<void> {
    await nextTurn()
    this.#begun(this.#now())
  }

  #begun(nowMs: number): number {
    if (this.#begunMs !== undefined) return this.#begunMs
    this.#begunMs = nowMs
    setImmediate(() => {
      this.#begunMs = undefined
    })
    return nowMs
  }
}

/** Of all loops of the process. */
export const sharedPieces = new SharedPieces()

/**
 * Runs a generator to its end and gives what it returns. It yields after each step that is short by itself; it goes on at once while there is
 * time left in the piece. A signal that is aborted ends it between two pieces: the generator is closed, and the reason thrown.
 */
export async function inPieces<T>(work: Generator<unknown, T, void>, signal?: AbortSignal): Promise<T> {
  return await nowOrInPieces(work, new Pieces(signal && (() => signal.throwIfAborted())))
}

/** The same; what is done within the piece that has begun is there at once. Promises that are yielded are waited for. */
export function nowOrInPieces<T>(work: Generator<unknown, T, void>, pieces: PieceClock): Promised<T> {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value instanceof Promise || pieces.isOver) return continued(work, pieces, step.value)
  }
}

async function continued<T>(work: Generator<unknown, T, void>, pieces: PieceClock, yielded: unknown): Promise<T> {
  let waiting = yielded
  for (;;) {
    try {
      if (waiting instanceof Promise) await waiting
      if (pieces.isOver) await pieces.next()
    } catch (thrown) {
      work.return(undefined as T)
      throw thrown
    }
    do {
      const step = work.next()
      if (step.done) return step.value
      waiting = step.value
    } while (!(pieces.isOver || waiting instanceof Promise))
  }
}

/** The same without any pause, for work that is short and waits for nothing. */
export function atOnce<T>(work: Generator<unknown, T, void>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
    if (step.value instanceof Promise) throw new Error('what has to be waited for is not there at once')
  }
}
