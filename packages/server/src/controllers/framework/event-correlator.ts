// Which events become objects: the same one again is counted in the object of the first, many that are alike are told as one, and who tells
// too much of an object is heard rarely. So no loop, however often it runs, fills the store.

import { RecentMap } from '../../base/recent-map.js'

/** What is told of whom, by whom. */
export interface Occurrence {
  /** Who tells it, and of which object. */
  readonly subject: string
  readonly type: string
  readonly reason: string
  readonly message: string
}

/** The object that stands for an occurrence and for those before it that were the same. */
export interface Series {
  /** Empty until it is written. */
  name: string
  readonly firstMs: number
  count: number
  message: string
  /** Set while somebody writes it; whether that went well. */
  writing?: Promise<boolean> | undefined
}

/** How many are kept in mind. */
const most = 4096
/** What may be told of an object at once, and how long it takes until one more may. */
const burst = 25
const refillMs = 300_000
/** Within this time so many of the same reason may say different things. */
const gatherMs = 600_000
const mostMessages = 10

interface Allowance {
  left: number
  sinceMs: number
}

interface Alike {
  readonly messages: Set<string>
  lastMs: number
}

export class EventCorrelator {
  readonly #allowances = new RecentMap<string, Allowance>(most)
  readonly #alike = new RecentMap<string, Alike>(most)
  readonly #series = new RecentMap<string, Series>(most)

  /** The series, already counted up; undefined: nobody is told. */
  add({ subject, type, reason, message }: Occurrence, nowMs: number): Series | undefined {
    if (!this.#isAllowed(subject, nowMs)) return undefined
    const sort = JSON.stringify([subject, type, reason])
    const isCombined = this.#isTooVaried(sort, message, nowMs)
    const key = isCombined ? sort : `${sort} ${message}`
    const series = this.#series.get(key) ?? { name: '', firstMs: nowMs, count: 0, message }
    series.message = isCombined ? `(combined from similar events): ${message}` : message
    series.count += 1
    this.#series.set(key, series)
    return series
  }

  /** What was allowed could not be told: it fills no store, and does not count. */
  giveBack(subject: string): void {
    const allowance = this.#allowances.get(subject)
    if (allowance !== undefined) allowance.left = Math.min(burst, allowance.left + 1)
  }

  /** As if nothing had been told yet. */
  forget(): void {
    for (const kept of [this.#allowances, this.#alike, this.#series]) kept.clear()
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

  #isTooVaried(sort: string, message: string, nowMs: number): boolean {
    let alike = this.#alike.get(sort)
    if (alike === undefined || nowMs - alike.lastMs > gatherMs) {
      alike = { messages: new Set(), lastMs: nowMs }
      this.#alike.set(sort, alike)
    }
    alike.lastMs = nowMs
    alike.messages.add(message)
    if (alike.messages.size < mostMessages) return false
    for (const oldest of alike.messages) {
      alike.messages.delete(oldest)
      break
    }
    return true
  }
}
