// Counters of a flow schema and its priority level, for the apiserver_flowcontrol_* metrics.

import { Histogram } from '@cluster-apiserver/api/base/histogram.js'

/** Seconds, as in kube-apiserver. */
const durationBounds = [0, 0.005, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30]

export class FlowCounter {
  readonly schema: string
  readonly level: string
  dispatched = 0
  waiting = 0
  executing = 0
  seatsInUse = 0
  readonly rejected = new Map<string, number>()
  readonly waits = new Histogram(durationBounds)
  readonly refusedWaits = new Histogram(durationBounds)
  readonly executions = new Histogram(durationBounds)

  constructor(schema: string, level: string) {
    this.schema = schema
    this.level = level
  }

  get isIdle(): boolean {
    return this.waiting === 0 && this.executing === 0
  }

  countRefusal(reason: string): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1)
  }
}
