// How often somebody was known, refused or anonymous, and what it took: only added to, and read for `/metrics`.

import { Histogram } from '../base/histogram.js'

export type AttemptResult = 'success' | 'failure' | 'error'

const doubling = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, i) => first * 2 ** i)
const attemptBounds = doubling(0.001, 15)
const cacheBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const minute = 60
const hour = 60 * minute
const day = 24 * hour
const expiryBounds = [
  0,
  hour / 2,
  hour,
  2 * hour,
  6 * hour,
  12 * hour,
  day,
  2 * day,
  4 * day,
  7 * day,
  30 * day,
  90 * day,
  180 * day,
  360 * day,
]

/** Names that may stand in metrics; there are as many others as there are users. */
const knownNames: ReadonlySet<string> = new Set(['admin', 'client', 'kube_proxy', 'kubelet'])

export class AuthenticationTallies {
  readonly attempts = {
    success: new Histogram(attemptBounds),
    failure: new Histogram(attemptBounds),
    error: new Histogram(attemptBounds),
  }
  readonly users = new Map<string, number>()
  readonly tokens = {
    hit: new Histogram(cacheBounds),
    miss: new Histogram(cacheBounds),
    /** Found out anew: well, or not. */
    ok: 0,
    error: 0,
    inFlight: 0,
    blocked: 0,
  }
  /** For how much longer certificates that were shown are in force, in seconds. */
  readonly certificates = new Histogram(expiryBounds)
  readonly accounts = { legacy: 0, stale: 0, valid: 0 }

  /** A request was authenticated, or not, after so many milliseconds. */
  count(result: AttemptResult, ms: number, userName: string): void {
    this.attempts[result].add(ms / 1000)
    if (result !== 'success') return
    const name = knownNames.has(userName) ? userName : userName.includes('@') ? 'email_id' : 'other'
    this.users.set(name, (this.users.get(name) ?? 0) + 1)
  }
}
