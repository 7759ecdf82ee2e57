// One evaluation: its variables, what it has cost so far, and where it must end.

import { Pieces } from '../base/pieces.js'
import { mostWork } from './call-work.js'
import type { Value } from './values.js'

/** Ends an evaluation that became too dear. */
export class CostExceeded extends Error {
  constructor() {
    super('operation cancelled: actual cost limit exceeded')
  }
}

/** Ends an evaluation that was tried at once and turned out to be long. */
export class TooLong extends Error {}

/** What an evaluation may make in all, in letters of texts and places of lists: cost counts steps, and not what they leave behind. */
const mostMade = 32 << 20

/** So many items are looked at before an evaluation in pieces gives way, at so much cost: a few microseconds. */
const mostItems = 16
const mostCost = 50

/** Between two looks at the clock. */
const costPerLook = 32

export class Run {
  cost = 0
  private made = 0
  /** Since the evaluation last gave way. */
  private work = 0
  private items = 0
  private dueCost = mostCost
  /** Up to which cost nothing has to be looked at. */
  private quietCost: number
  /** Since the first look. */
  private clock: Pieces | undefined
  /** Values of the variables that comprehensions bind, by depth. */
  readonly locals: Value[] = []
  readonly variables: { readonly [name: string]: Value }
  private readonly limit: number
  private readonly patience: number

  constructor(variables: { readonly [name: string]: Value }, limit: number, patience = Number.POSITIVE_INFINITY) {
    this.variables = variables
    this.limit = limit
    this.patience = patience
    this.quietCost = Math.min(this.patience, limit, costPerLook)
  }

  /** Counts how long a step that comes now takes at worst. */
  weigh(work: number): void {
    this.work += work
    if (this.work <= mostWork) return
    if (this.patience < Number.POSITIVE_INFINITY) throw new TooLong()
  }

  /** Whether it is time to give way, asked before each item of a walk: to do so costs as much as many short items. */
  isDue(): boolean {
    return ++this.items >= mostItems || this.cost >= this.dueCost || this.work > 0
  }

  /** Others have had a turn. */
  hasGivenWay(): void {
    this.work = 0
    this.items = 0
    this.dueCost = this.cost + mostCost
    this.clock = undefined
  }

  /** Counts what was made anew. */
  make(size: number): void {
    this.made += size
    if (this.made > mostMade) throw new CostExceeded()
  }

  spend(units: number): void {
    this.cost += units
    if (this.cost > this.quietCost) this.check()
  }

  private check(): void {
    if (this.cost > this.patience) throw new TooLong()
    if (this.cost > this.limit) throw new CostExceeded()
    this.look()
    this.quietCost = Math.min(this.patience, this.limit, this.cost + costPerLook)
  }

  /** Neither cost nor estimates know how long every step takes: a comparison of large values costs as much as one of small ones. */
  private look(): void {
    this.clock ??= new Pieces()
    if (!this.clock.isOver) return
    this.clock = undefined
    if (this.patience < Number.POSITIVE_INFINITY) throw new TooLong()
  }
}
