// How long a shape takes at several sizes, in processor time of the thread: what else the machine does adds little, and of some samples the least counts.

import { getHeapSpaceStatistics } from 'node:v8'
import { threadMs } from '../../src/base/thread-time.fixture.js'
import { randomFrom } from '../kit/seeded-random.js'
import type { Shape } from './shape.js'

/** What takes longer than that is measured from its first run on: its code was compiled for smaller inputs, and another run costs much. */
const longMs = 50

/** An input of some size with the least that it took so far. */
export interface Timed {
  readonly bytes: number
  readonly ms: number
  sample(): void
}

export class Probe implements Timed {
  readonly bytes: number
  /** How long one sample lasts at least: what is quicker runs several times in it. */
  readonly #sampleMs: number
  readonly #run: () => unknown
  #ms = Number.POSITIVE_INFINITY

  constructor(shape: Shape, bytes: number, seed: number, sampleMs = 3) {
    this.bytes = bytes
    this.#sampleMs = sampleMs
    this.#run = shape.prepare(bytes, randomFrom(seed))
  }

  get ms(): number {
    return this.#ms
  }

  /** A single run, which may have to compile first: no less than it takes. */
  once(): void {
    this.#runsFor(0)
  }

  sample(): void {
    if (this.#ms === Number.POSITIVE_INFINITY) {
      if (this.#runsFor(0) > longMs) return
      this.#runsFor(this.#sampleMs) // compiles, and flattens what was put together
    }
    this.#runsFor(this.#sampleMs)
  }

  /** Again and again for so long, but once at least: what one took. */
  #runsFor(leastMs: number): number {
    emptyYoungGeneration()
    const begun = threadMs()
    let runs = 0
    let taken = 0
    do {
      this.#run()
      runs++
      taken = threadMs() - begun
    } while (taken < leastMs)
    this.#ms = Math.min(this.#ms, taken / runs)
    return taken
  }
}

/** So much of the young generation may be in use before a sample begins: the rest, most of it, is for what the sample makes. */
const mostUsedBytes = 128 << 20

/** Where the collector can be asked: then it hardly runs within a sample, and what it takes is nobody's time. It takes long itself, so not each time. */
function emptyYoungGeneration(): void {
  const { gc } = globalThis as { gc?: (options: { type: 'minor' }) => void }
  if (gc === undefined) return
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  if (young === undefined || young.space_used_size > mostUsedBytes) gc({ type: 'minor' })
}

/** By how much the time grows from one size to the other; samples go on while that looks worse than allowed. */
export function growthOf({ from, to }: { readonly from: Probe; readonly to: Probe }, limit: number): number {
  const factor = (): number => to.ms / from.ms
  // The small one is cheap, what disturbs it hides what is looked for, and it has the code compiled.
  for (let i = 0; i < 4; i++) from.sample()
  to.once()
  // On a busy machine it takes long until what is run often is compiled well; what takes long itself is run a few times only.
  for (let doubt = 0; doubt < (to.ms < longMs ? 100 : 10) && factor() > limit; doubt++) {
    to.sample()
    from.sample()
  }
  return factor()
}
