// Durations of admission plugins and of the steps admit and validate, by operation and outcome, for metrics.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import type { Operation } from '@cluster-apiserver/api/resources/admissionregistration/policy/match-rules.js'
import { PolicyCounters } from './validating-admission-policy/policy-counters.js'

type StepType = 'admit' | 'validate'

/** Histogram bounds in seconds; the values of kube-apiserver. */
const durationBounds: readonly number[] = [0.005, 0.025, 0.1, 0.5, 1, 2.5]

export interface AdmissionDurations {
  readonly name: string
  readonly type: StepType
  readonly operation: Operation
  readonly rejected: boolean
  readonly durations: Pick<Histogram, 'bounds' | 'counts' | 'sum' | 'changes'>
}

/** Durations of one plugin, or of a whole step if `name` is empty. */
export class AdmissionCounter {
  readonly name: string
  readonly type: StepType
  readonly #accepted: { [operation in Operation]?: Histogram } = {}
  readonly #rejected: { [operation in Operation]?: Histogram } = {}

  constructor(name: string, type: StepType) {
    this.name = name
    this.type = type
  }

  observe(operation: Operation, rejected: boolean, startMs: number): void {
    const counts = rejected ? this.#rejected : this.#accepted
    const durations = counts[operation] ?? new Histogram(durationBounds)
    counts[operation] = durations
    durations.add((performance.now() - startMs) / 1000)
  }

  *all(): Iterable<AdmissionDurations> {
    for (const rejected of [false, true]) {
      const counts = rejected ? this.#rejected : this.#accepted
      for (const operation of Object.keys(counts) as Operation[]) {
        const durations = counts[operation]
        if (durations !== undefined) yield { name: this.name, type: this.type, operation, rejected, durations }
      }
    }
  }
}

export class AdmissionCounters {
  readonly #plugins = new Map<string, AdmissionCounter>()
  readonly policies = new PolicyCounters()
  readonly steps = { admit: new AdmissionCounter('', 'admit'), validate: new AdmissionCounter('', 'validate') } as const

  pluginCounter(name: string, type: StepType): AdmissionCounter {
    const key = `${type} ${name}`
    const counter = this.#plugins.get(key) ?? new AdmissionCounter(name, type)
    this.#plugins.set(key, counter)
    return counter
  }

  *plugins(): Iterable<AdmissionDurations> {
    for (const counter of this.#plugins.values()) yield* counter.all()
  }

  *wholeSteps(): Iterable<AdmissionDurations> {
    yield* this.steps.admit.all()
    yield* this.steps.validate.all()
  }
}
