// Counts the topology hints of each Service by zone, to find Services that a change of the nodes overloads; makes the events about hints.

import type { IpFamily } from '@cluster-apiserver/api/api/validation/network/ip-text.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { WorkloadEvent } from '../kit/writer.js'
import { overloadThreshold, type ZoneRatios } from './topology-hints.js'

type ZoneCounts = ReadonlyMap<string, number>

export class HintedServices {
  /** Hints by zone, by key of the Service and by family. */
  readonly #counts = new Map<string, Map<IpFamily, ZoneCounts>>()
  /** Services that have hints for one of their families. */
  readonly #announced = new Set<string>()

  get isEmpty(): boolean {
    return this.#counts.size === 0
  }

  /** `hints`: by zone, why there are none, or undefined if the Service does not want any. Returns the event about it. */
  note(key: string, family: IpFamily, hints: ZoneCounts | string | undefined): WorkloadEvent | undefined {
    const wasAnnounced = this.#announced.has(key)
    if (typeof hints === 'object') {
      getOrInsert(this.#counts, key, () => new Map<IpFamily, ZoneCounts>()).set(family, hints)
      this.#announced.add(key)
      return wasAnnounced ? undefined : eventOf('Enabled', 'Topology Aware Hints has been enabled', family)
    }
    this.remove(key, family)
    if (hints !== undefined) return eventOf('Disabled', hints, family)
    return wasAnnounced ? eventOf('Disabled', 'Topology Aware Hints has been disabled', family) : undefined
  }

  /** The family has no slices. */
  remove(key: string, family: IpFamily): void {
    const families = this.#counts.get(key)
    families?.delete(family)
    if (families?.size === 0) this.#counts.delete(key)
    this.#announced.delete(key)
  }

  forget(key: string): void {
    this.#counts.delete(key)
    this.#announced.delete(key)
  }

  /** Keys of Services whose hints overload a zone, if the nodes are distributed like this. */
  overloadedBy(ratios: ZoneRatios | undefined): readonly string[] {
    const keys: string[] = []
    for (const [key, families] of this.#counts) if ([...families.values()].some((counts) => isOverloaded(counts, ratios))) keys.push(key)
    return keys
  }
}

function isOverloaded(counts: ZoneCounts, ratios: ZoneRatios | undefined): boolean {
  if (ratios === undefined) return true
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  return [...ratios].some(([zone, ratio]) => (counts.get(zone) ?? -1) < Math.ceil((total * ratio) / (1 + overloadThreshold)))
}

const eventOf = (state: 'Enabled' | 'Disabled', text: string, family: IpFamily): WorkloadEvent => ({
  type: state === 'Enabled' ? 'Normal' : 'Warning',
  reason: `TopologyAwareHints${state}`,
  message: `${text}, addressType: ${family}`,
})
