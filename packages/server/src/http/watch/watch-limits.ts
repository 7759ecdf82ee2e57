// Limits on open watches: in total, per user, and on the selectors and URLs that they keep in memory.

import { tooManyRequests } from '@cluster-apiserver/api/api/api-error.js'
import { quote } from '@cluster-apiserver/api/api/field-error.js'
import { mastersGroup } from '@cluster-apiserver/api/api/user.js'
import { shorten } from '@cluster-apiserver/api/base/shorten.js'
import { OverloadedError } from '../../flow-control/memory-pressure.js'
import type { Exchange } from '../pipeline/exchange.js'

/** With more open watches than this, new ones get a smaller buffer. */
const manyWatches = 1_000

/** Bytes of events that are written to a connection before the client has read them. */
export const streamBufferBytes = 64 << 10
const smallStreamBufferBytes = 16 << 10

/** Selectors with fewer requirements are not counted. */
const freeRequirements = 16
/** Requirements of all counted selectors: each may be evaluated for every change. */
const maxRequirements = 200_000
/** Smaller requests are not counted. */
const freeBytes = 4 << 10
/** Bytes of all counted requests: URL and user agent. */
const maxRequestBytes = 64 << 20

interface WatchCost {
  readonly requirements?: number
  readonly bytes?: number
}

export class WatchLimits {
  readonly #max: number
  readonly #byUser = new Map<string, number>()
  readonly #maxPerUser: number
  #open = 0
  #requirements = 0
  #bytes = 0

  constructor(max: number) {
    this.#max = max
    this.#maxPerUser = Math.ceil(max / 2)
  }

  get open(): number {
    return this.#open
  }

  /** Buffer of a new watch. */
  get bufferBytesEach(): number {
    return this.#open > manyWatches ? smallStreamBufferBytes : streamBufferBytes
  }

  /** Counts a watch until it is closed; throws 429 beyond a limit. */
  enter(exchange: Pick<Exchange, 'onClose' | 'user'>, cost: WatchCost = {}): void {
    const requirements = countedAbove(freeRequirements, cost.requirements)
    const bytes = countedAbove(freeBytes, cost.bytes)
    const isTooCostly =
      (requirements > 0 && this.#requirements + requirements > maxRequirements) || (bytes > 0 && this.#bytes + bytes > maxRequestBytes)
    if (this.#open >= this.#max || isTooCostly) throw new OverloadedError()
    const { name, groups } = exchange.user
    const userCount = this.#byUser.get(name) ?? 0
    if (userCount >= this.#maxPerUser && !groups.includes(mastersGroup))
      throw tooManyRequests(`user ${quote(shorten(name))} has ${userCount} watches open, which is as many as one user may have`, 1)
    this.#open++
    this.#byUser.set(name, userCount + 1)
    this.#requirements += requirements
    this.#bytes += bytes
    exchange.onClose(() => {
      this.#open--
      this.#requirements -= requirements
      this.#bytes -= bytes
      const left = (this.#byUser.get(name) ?? 0) - 1
      if (left > 0) this.#byUser.set(name, left)
      else this.#byUser.delete(name)
    })
  }
}

const countedAbove = (free: number, count = 0): number => (count > free ? count : 0)
