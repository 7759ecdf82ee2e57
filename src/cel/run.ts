// One evaluation: its variables, what it has cost so far, and where it must end.

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

export class Run {
  cost = 0
  private made = 0
  /** Values of the variables that comprehensions bind, by depth. */
  readonly locals: Value[] = []
  readonly variables: { readonly [name: string]: Value }
  private readonly limit: number
  private readonly patience: number

  /** `patience` is how much an evaluation may cost that is tried at once. */
  constructor(variables: { readonly [name: string]: Value }, limit: number, patience = Number.POSITIVE_INFINITY) {
    this.variables = variables
    this.limit = limit
    this.patience = patience
  }

  /** Counts what was made anew. */
  make(size: number): void {
    this.made += size
    if (this.made > mostMade) throw new CostExceeded()
  }

  spend(units: number): void {
    this.cost += units
    if (this.cost > this.patience) throw new TooLong()
    if (this.cost > this.limit) throw new CostExceeded()
  }
}
