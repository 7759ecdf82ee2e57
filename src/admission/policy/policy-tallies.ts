// How often policies refused, or could not be evaluated and let pass, and how long their expressions took, for metrics.

import { getOrInsert } from '../../base/get-or-insert.js'
import { Histogram } from '../../base/histogram.js'

/** In seconds, as dashboards know them. */
const bounds: readonly number[] = [0.0000005, 0.001, 0.01, 0.1, 1]

export interface PolicyTally {
  readonly policy: string
  readonly binding: string
  /** `deny`, or `allow` for what failed and was let pass. */
  readonly action: 'allow' | 'deny'
  readonly durations: Histogram
}

export class PolicyTallies {
  /** How many policies were seen so far. */
  definitions = 0
  readonly #checks = new Map<string, PolicyTally>()

  took(policy: string, binding: string, action: PolicyTally['action'], seconds: number): void {
    this.#of(policy, binding, action).durations.add(seconds)
  }

  checks(): Iterable<PolicyTally> {
    return this.#checks.values()
  }

  #of(policy: string, binding: string, action: PolicyTally['action']): PolicyTally {
    const key = `${policy} ${binding} ${action}`
    return getOrInsert(this.#checks, key, () => ({ policy, binding, action, durations: new Histogram(bounds) }))
  }

  /** What is gone is not counted any more: names come and go without an end. */
  forget(policy: string): void {
    for (const [key, tally] of this.#checks) if (tally.policy === policy) this.#checks.delete(key)
  }
}
