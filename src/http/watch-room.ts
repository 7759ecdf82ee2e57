// How many watches are open, and how many begin at once: beyond a burst they take turns with everything else.

import { tooManyRequests } from '../api/api-error.js'
import { quote } from '../api/field-error.js'
import { mastersGroup } from '../api/user.js'
import { Pieces } from '../base/pieces.js'
import { shorten } from '../base/shorten.js'
import { crowdedRoomBytes, streamRoomBytes } from '../net/socket-room.js'
import type { Exchange } from './exchange.js'
import { OverloadedError } from './pressure.js'

/** How many begin in a turn of the event loop without waiting. */
const burst = 50
/** From this number on each gets less room in its connection. */
const crowd = 1_000

/** Usual selectors have fewer, and are not counted. */
const fewConditions = 16
/** Of all that have more: they are kept, and may be looked at for every change. */
const mostConditions = 200_000
/** Of what is kept of its request: usual ones have less, and are not counted. */
const fewBytes = 4 << 10
/** Of all that have more. */
const mostBytes = 64 << 20

/** What is kept of a watch for as long as it is open. */
export interface Kept {
  /** Of its selectors. */
  readonly conditions?: number
  /** Of its address and the name of the client's program. */
  readonly bytes?: number
}

export class WatchRoom {
  readonly #max: number
  readonly #waiting: (() => void)[] = []
  /** Of those that are open. */
  readonly #byUser = new Map<string, number>()
  /** What one user may have of all: the others shall find room. */
  readonly #share: number
  #open = 0
  #conditions = 0
  #bytes = 0
  #begun = 0
  #isTurnCounted = false

  constructor(max: number) {
    this.#max = max
    this.#share = Math.ceil(max / 2)
  }

  get open(): number {
    return this.#open
  }

  /** How much of its events may lie in the connection of one that begins now. */
  get bytesEach(): number {
    return this.#open > crowd ? crowdedRoomBytes : streamRoomBytes
  }

  /** Counts a watch, and what is kept of it, until its client has gone; throws when there are too many. */
  enter(exchange: Pick<Exchange, 'onLeave' | 'user'>, kept: Kept = {}): void {
    const conditions = beyond(fewConditions, kept.conditions)
    const bytes = beyond(fewBytes, kept.bytes)
    const isTooMuch = (conditions > 0 && this.#conditions + conditions > mostConditions) || (bytes > 0 && this.#bytes + bytes > mostBytes)
    if (this.#open >= this.#max || isTooMuch) throw new OverloadedError()
    const { name, groups } = exchange.user
    const own = this.#byUser.get(name) ?? 0
    if (own >= this.#share && !groups.includes(mastersGroup))
      throw tooManyRequests(`user ${quote(shorten(name))} has ${own} watches open, which is as many as one user may have`, 1)
    this.#open++
    this.#byUser.set(name, own + 1)
    this.#conditions += conditions
    this.#bytes += bytes
    exchange.onLeave(() => {
      this.#open--
      this.#conditions -= conditions
      this.#bytes -= bytes
      const left = (this.#byUser.get(name) ?? 0) - 1
      if (left > 0) this.#byUser.set(name, left)
      else this.#byUser.delete(name)
    })
  }

  /** To be waited for before a watch begins; undefined where it may at once. What waits is bounded by the number of watches. */
  turn(): Promise<void> | undefined {
    if (!this.#isTurnCounted) this.#countTurn()
    if (this.#waiting.length === 0 && this.#begun < burst) {
      this.#begun++
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #countTurn(): void {
    this.#isTurnCounted = true
    setImmediate(() => void this.#endTurn())
  }

  /** Those that wait begin one after the other, for as long as a piece of work may take. */
  async #endTurn(): Promise<void> {
    this.#begun = 0
    const pieces = new Pieces()
    for (let next = 0; next < this.#waiting.length; next++) {
      this.#waiting[next]?.()
      await undefined // it begins before the next one is asked for
      if (!pieces.isOver) continue
      this.#waiting.splice(0, next + 1)
      next = -1
      await pieces.next()
    }
    this.#waiting.length = 0
    this.#isTurnCounted = false
  }
}

const beyond = (few: number, count = 0): number => (count > few ? count : 0)
