// What is too heavy for the event loop: bytes of which so much is made that a piece of work would not be enough by far.

import { Pieces } from './pieces.js'

/** Below this nobody needs to look: an item and its comma are two bytes at least. */
const lightBytes = 4 << 10
/** Of text that is one long value half a megabyte takes a few milliseconds. */
const heavyBytes = 512 << 10
/** Members and items: the decoding, the rules and the bookkeeping of owners take about ten microseconds for each. */
export const mostParts = 2000
/** What stands for another character in a text is read and written one by one, for a tenth of a microsecond each. */
const mostEscapes = 50_000

/** Thrown where something is too heavy to be dealt with here, before anything was done: it can be begun anew elsewhere. */
export class TooHeavyError extends Error {
  override readonly name = 'TooHeavyError'
  constructor() {
    super('the request is too heavy for the event loop')
  }
}

/** By the bytes that begin or separate parts in JSON and YAML. What is in texts counts, too: a wrong guess costs a little time. */
export function isHeavy(bytes: Uint8Array, mostBytes = heavyBytes): boolean {
  if (bytes.length <= lightBytes) return false
  if (bytes.length > mostBytes) return true
  // Each takes its part of the time.
  const parts = mostParts * (1 - bytes.length / mostBytes)
  return hasMore(bytes, marks, parts) || (bytes.length > 2 * mostEscapes && hasMore(bytes, escapes, mostEscapes))
}

function hasMore(bytes: Uint8Array, wanted: readonly number[], most: number): boolean {
  let found = 0
  // The platform's search jumps from part to part: 3 to 30 µs for 50 KB, where a look at every byte takes 70.
  for (const mark of wanted) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) if (++found > most) return true
  }
  return false
}

/** A single step that takes longer than this at worst is not begun on the event loop, and many short ones are not gone on with. */
const mostStepNs = 5e6

/**
 * Watches steps that are not cut. `leave` throws where the whole can be begun anew elsewhere, and returns where it has to be done here: then it is
 * not called again.
 */
export class Strain {
  #leave: (() => void) | undefined
  readonly #clock = new Pieces()

  constructor(leave: () => void) {
    this.#leave = leave
  }

  /** Before a step: how long it takes at worst, in nanoseconds. */
  expect(workNs: number): void {
    if (workNs > mostStepNs) this.#goAway()
  }

  /** After it: what estimates do not know the clock does. */
  look(): void {
    if (this.#leave !== undefined && this.#clock.isOver) this.#goAway()
  }

  #goAway(): void {
    const leave = this.#leave
    this.#leave = undefined
    leave?.()
  }
}

/** A comma, a line end, and the two brackets that open something. */
const marks = [0x2c, 0x0a, 0x5b, 0x7b]
/** A backslash, and the quote that YAML doubles. */
const escapes = [0x5c, 0x27]
