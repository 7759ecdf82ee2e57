// State of one CEL evaluation: variables, cost, memory and time limits.

import { maxBlockingNs } from '../cost/call-time.js'
import type { Value } from '../values/values.js'

export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Ends a synchronous evaluation that takes too long; the caller starts it again in time slices. */
export class EvaluationTooLong extends Error {}

/** Characters and list items that one evaluation may create. CEL cost does not count memory. */
const maxCreated = 32 << 20

/** Items and cost between two yields, a few microseconds. */
const maxItemsPerSlice = 16
const maxCostPerSlice = 50

export class Run {
  cost = 0
  private created = 0
  /** Worst-case nanoseconds since the last yield. */
  private blockingNs = 0
  private items = 0
  private sliceEndCost = maxCostPerSlice
  readonly locals: Value[] = []
  readonly variables: { readonly [name: string]: Value }
  private readonly costLimit: number
  private readonly maxSyncCost: number
  private readonly firstCostLimit: number

  /** If `maxSyncCost` is set, a higher cost or calls that block for too long throw {@link EvaluationTooLong}. */
  constructor(variables: { readonly [name: string]: Value }, costLimit: number, maxSyncCost = Number.POSITIVE_INFINITY) {
    this.variables = variables
    this.costLimit = costLimit
    this.maxSyncCost = maxSyncCost
    this.firstCostLimit = Math.min(maxSyncCost, costLimit)
  }

  addTime(ns: number): void {
    this.blockingNs += ns
    if (this.blockingNs > maxBlockingNs && this.maxSyncCost < Number.POSITIVE_INFINITY) throw new EvaluationTooLong()
  }

  /** True after several items: a yield costs as much as many short items. */
  shouldYield(): boolean {
    return ++this.items >= maxItemsPerSlice || this.cost >= this.sliceEndCost || this.blockingNs > 0
  }

  resetAfterYield(): void {
    this.blockingNs = 0
    this.items = 0
    this.sliceEndCost = this.cost + maxCostPerSlice
  }

  countCreated(size: number): void {
    this.created += size
    if (this.created > maxCreated) throw new CostExceeded()
  }

  spend(units: number): void {
    this.cost += units
    if (this.cost <= this.firstCostLimit) return
    throw this.cost > this.costLimit ? new CostExceeded() : new EvaluationTooLong()
  }
}
