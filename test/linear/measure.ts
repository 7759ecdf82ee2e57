// How long a shape takes at several sizes, in CPU time: what else the machine does then adds little, and of some samples the least counts.

import { randomFrom } from '../kit/seeded-random.js'
import type { Shape } from './shape.js'

export interface Sampling {
  /** How long one sample lasts at least: what is quicker runs several times in it. */
  readonly leastMs: number
  readonly samples: number
}

/** One input with what it took so far. */
export class Probe {
  readonly bytes: number
  #run: () => unknown
  #ms = Number.POSITIVE_INFINITY

  constructor(shape: Shape, bytes: number, seed: number) {
    this.bytes = bytes
    this.#run = shape.prepare(bytes, randomFrom(seed))
    this.#run() // compiles, and flattens what was put together
  }

  get ms(): number {
    return this.#ms
  }

  sample({ leastMs, samples }: Sampling): number {
    for (let i = 0; i < samples; i++) {
      emptyYoungGeneration()
      const begun = cpuMs()
      let runs = 0
      let taken = 0
      do {
        this.#run()
        runs++
        taken = cpuMs() - begun
      } while (taken < leastMs)
      this.#ms = Math.min(this.#ms, taken / runs)
    }
    return this.#ms
  }
}

/** Where the collector can be asked: then it does not run within a sample, and what it takes is nobody's time. */
function emptyYoungGeneration(): void {
  ;(globalThis as { gc?: (options: { type: 'minor' }) => void }).gc?.({ type: 'minor' })
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

export interface Growth {
  readonly shape: Shape
  readonly from: Probe
  readonly to: Probe
  readonly factor: number
}

/** By how much the time grows from one size to the other; samples go on while that looks worse than allowed, and it is worth a doubt. */
export function growthOf(shape: Shape, sizes: { readonly from: Probe; readonly to: Probe }, limit: number, sampling: Sampling): Growth {
  const { from, to } = sizes
  const factor = (): number => to.ms / from.ms
  to.sample(sampling)
  // The small one is cheap, and what disturbs it hides what is looked for.
  from.sample({ ...sampling, samples: sampling.samples * 4 })
  for (let doubt = 0; doubt < 10 && factor() > limit; doubt++) {
    to.sample(sampling)
    from.sample(sampling)
  }
  return { shape, from, to, factor: factor() }
}

export const showGrowth = ({ shape, from, to, factor }: Growth): string =>
  `${shape.subject}: ${shape.name}: ${from.bytes} bytes ${from.ms.toFixed(3)} ms, ${to.bytes} bytes ${to.ms.toFixed(3)} ms, factor ${factor.toFixed(1)}`
