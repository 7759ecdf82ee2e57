// How long plugins and the two steps of admission take, and how often they refuse, for metrics.

import { Histogram } from '../base/histogram.js'
import type { Operation } from './admission.js'
import { PolicyTallies } from './policy/policy-tallies.js'

/** As metrics call the two steps. */
export type StepType = 'admit' | 'validate'

/** In seconds, as dashboards know them. */
const bounds: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export interface TalliedDurations {
  /** The plugin; empty for a step as a whole. */
  readonly name: string
  readonly type: StepType
  readonly operation: Operation
  readonly rejected: boolean
  readonly durations: Pick<Histogram, 'bounds' | 'counts' | 'sum' | 'changes'>
}

/** Of one plugin, or of a step, in one of the two steps. */
export class AdmissionTally {
  readonly name: string
  readonly type: StepType
  readonly #accepted: { [operation in Operation]?: Histogram } = {}
  readonly #rejected: { [operation in Operation]?: Histogram } = {}

  constructor(name: string, type: StepType) {
    this.name = name
    this.type = type
  }

  /** Notes what began at a moment of performance.now(), and returns the present one, with which the next begins. */
  took(operation: Operation, rejected: boolean, begunMs: number): number {
    const now = performance.now()
    const counts = rejected ? this.#rejected : this.#accepted
    const durations = counts[operation] ?? new Histogram(bounds)
    counts[operation] = durations
    durations.add((now - begunMs) / 1000)
    return now
  }

  *all(): Iterable<TalliedDurations> {
    for (const rejected of [false, true]) {
      const counts = rejected ? this.#rejected : this.#accepted
      for (const operation of Object.keys(counts) as Operation[]) {
        const durations = counts[operation]
        if (durations !== undefined) yield { name: this.name, type: this.type, operation, rejected, durations }
      }
    }
  }
}

export class AdmissionTallies {
  readonly #plugins = new Map<string, AdmissionTally>()
  readonly policies = new PolicyTallies()
  readonly steps = { admit: new AdmissionTally('', 'admit'), validate: new AdmissionTally('', 'validate') } as const

  of(name: string, type: StepType): AdmissionTally {
    const key = `${type} ${name}`
    const known = this.#plugins.get(key) ?? new AdmissionTally(name, type)
    this.#plugins.set(key, known)
    return known
  }

  *plugins(): Iterable<TalliedDurations> {
    for (const tally of this.#plugins.values()) yield* tally.all()
  }

  *wholeSteps(): Iterable<TalliedDurations> {
    yield* this.steps.admit.all()
    yield* this.steps.validate.all()
  }
}
