// Trigger time of a change of endpoints: the earliest new transition of a pod's readiness, or the creation of the Service. Keeps the times
// of the last run of each Service.

import type { Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { podConditionOf } from '../kit/pod-state.js'

interface Times {
  readonly service: string
  readonly pods: ReadonlyMap<string, string>
}

export class TriggerTimes {
  readonly #times = new Map<string, Times>()

  /** The earliest time since the last call; undefined if nothing with a time has changed, as after a deletion. */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.#times.get(key)
    const now: Times = {
      service: service.metadata?.creationTimestamp ?? '',
      pods: new Map(pods.map((pod) => [nameOf(pod), readyTimeOf(pod)])),
    }
    this.#times.set(key, now)
    if (before === undefined) return now.service === '' ? undefined : now.service
    let earliest: string | undefined
    const note = (time: string, last: string): void => {
      // Times have one format, in which text order is time order.
      if (time > last && (earliest === undefined || time < earliest)) earliest = time
    }
    note(now.service, before?.service ?? '')
    for (const [name, time] of now.pods) note(time, before?.pods.get(name) ?? '')
    return earliest
  }

  forget(key: string): void {
    this.#times.delete(key)
  }
}

const nameOf = ({ metadata }: Pod): string => metadata?.name ?? ''
const readyTimeOf = (pod: Pod): string => podConditionOf(pod, 'Ready')?.lastTransitionTime ?? ''
