// Durations of policy evaluations that deny or fail, and the number of policies, for metrics.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'

/** Histogram bounds in seconds; the values of kube-apiserver. */
const durationBounds: readonly number[] = [0.0000005, 0.001, 0.01, 0.1, 1]

interface PolicyCounter {
  readonly policy: string
  readonly binding: string
  /** `allow` counts failed evaluations that failurePolicy Ignore lets pass. */
  readonly action: 'allow' | 'deny'
  readonly durations: Histogram
}

export class PolicyCounters {
  /** Policies loaded or created since the server started. */
  definitions = 0
  readonly #checks = new Map<string, PolicyCounter>()

  observe(policy: string, binding: string, action: PolicyCounter['action'], seconds: number): void {
    this.#counterFor(policy, binding, action).durations.add(seconds)
  }

  checks(): Iterable<PolicyCounter> {
    return this.#checks.values()
  }

  #counterFor(policy: string, binding: string, action: PolicyCounter['action']): PolicyCounter {
    const key = `${policy} ${binding} ${action}`
    return getOrInsert(this.#checks, key, () => ({ policy, binding, action, durations: new Histogram(durationBounds) }))
  }

  /** Drops the counters of a deleted policy: the number of names is unbounded. */
  forget(policy: string): void {
    for (const [key, counter] of this.#checks) if (counter.policy === policy) this.#checks.delete(key)
  }
}
