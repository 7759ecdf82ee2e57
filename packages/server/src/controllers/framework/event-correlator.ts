// Event correlation: repeated events are counted, similar ones aggregated, and objects with many events rate-limited.

import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'

interface Occurrence {
  /** Identifies the component and the involved object. */
  readonly subject: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

export interface Series {
  name: string
  readonly firstMs: number
  count: number
  message: string
  writing?: Promise<boolean> | undefined
}

const maxEntries = 4096
/** Token bucket of each object. */
const burst = 25
const refillMs = 300_000
/** Aggregates events of one reason with this many different messages within the window. */
const aggregationMs = 600_000
const maxMessages = 10

interface Allowance {
  left: number
  sinceMs: number
}

interface SimilarEvents {
  readonly messages: Set<string>
  lastMs: number
}

export class EventCorrelator {
  readonly #allowances = new RecentMap<string, Allowance>(maxEntries)
  readonly #similar = new RecentMap<string, SimilarEvents>(maxEntries)
  readonly #series = new RecentMap<string, Series>(maxEntries)

  /** Returns undefined if the event exceeds the rate limit. */
  add({ subject, type, reason, message }: Occurrence, nowMs: number): Series | undefined {
    if (!this.#isAllowed(subject, nowMs)) return undefined
    const groupKey = JSON.stringify([subject, type, reason])
    const isCombined = this.#isTooVaried(groupKey, message, nowMs)
    const key = isCombined ? groupKey : `${groupKey} ${message}`
    const series = this.#series.get(key) ?? { name: '', firstMs: nowMs, count: 0, message }
    series.message = isCombined ? `(combined from similar events): ${message}` : message
    series.count += 1
    this.#series.set(key, series)
    return series
  }

  refund(subject: string): void {
    const allowance = this.#allowances.get(subject)
    if (allowance !== undefined) allowance.left = Math.min(burst, allowance.left + 1)
  }

  forget(): void {
    for (const cache of [this.#allowances, this.#similar, this.#series]) cache.clear()
  }

  #isAllowed(subject: string, nowMs: number): boolean {
    const allowance = this.#allowances.get(subject) ?? { left: burst, sinceMs: nowMs }
    const earned = Math.floor((nowMs - allowance.sinceMs) / refillMs)
    if (earned > 0) {
      allowance.left = Math.min(burst, allowance.left + earned)
      allowance.sinceMs += earned * refillMs
    } else if (nowMs < allowance.sinceMs) allowance.sinceMs = nowMs
    this.#allowances.set(subject, allowance)
    if (allowance.left === 0) return false
    allowance.left -= 1
    return true
  }

  #isTooVaried(groupKey: string, message: string, nowMs: number): boolean {
    let similar = this.#similar.get(groupKey)
    if (similar === undefined || nowMs - similar.lastMs > aggregationMs) {
      similar = { messages: new Set(), lastMs: nowMs }
      this.#similar.set(groupKey, similar)
    }
    similar.lastMs = nowMs
    similar.messages.add(message)
    if (similar.messages.size < maxMessages) return false
    for (const oldest of similar.messages) {
      similar.messages.delete(oldest)
      break
    }
    return true
  }
}
