// Measures a shape (a builder of inputs of any size) at one size, in CPU time of the thread; the minimum of several samples counts.

import { getHeapSpaceStatistics } from 'node:v8'
import { threadCpuMs } from '../../packages/api/src/base/testing/thread-cpu-time.fixture.js'
import { randomFrom } from '../kit/seeded-random.js'
import type { Shape } from './shape.js'

/** Above this time the first run counts: the code was compiled by smaller inputs, and another run is expensive. */
const maxRepeatedMs = 50

/** An input of one size with its minimum time so far. */
export interface TimedShape {
  readonly bytes: number
  readonly ms: number
  sample(): void
}

export class Probe implements TimedShape {
  readonly bytes: number
  /** Minimum duration of a sample; faster shapes run several times. */
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

  /** A single run, which may include compilation: an upper bound. */
  once(): void {
    this.#runsFor(0)
  }

  sample(): void {
    if (this.#ms === Number.POSITIVE_INFINITY) {
      if (this.#runsFor(0) > maxRepeatedMs) return
      this.#runsFor(this.#sampleMs) // compiles the code, and flattens concatenated strings
    }
    this.#runsFor(this.#sampleMs)
  }

  /** Repeats for the duration, at least once; returns the time per run. */
  #runsFor(minMs: number): number {
    emptyYoungGeneration()
    const begunMs = threadCpuMs()
    let runs = 0
    let takenMs = 0
    do {
      this.#run()
      runs++
      takenMs = threadCpuMs() - begunMs
    } while (takenMs < minMs)
    this.#ms = Math.min(this.#ms, takenMs / runs)
    return takenMs
  }
}

/** Maximum use of the young generation before a sample; the rest is for the sample. */
const maxUsedBytes = 128 << 20

/** Collects garbage before samples if `gc` is available, so that it hardly runs within them. Expensive, so not each time. */
function emptyYoungGeneration(): void {
  const { gc } = globalThis as { gc?: (options: { type: 'minor' }) => void }
  if (gc === undefined) return
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')
  if (young === undefined || young.space_used_size > maxUsedBytes) gc({ type: 'minor' })
}
