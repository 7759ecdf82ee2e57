// What every rule of the grammar does as it begins and ends: it counts how deep it is, and makes the best of what does not belong there.

import type { Expr } from './ast.js'
import type { Issue } from './source.js'
import type { Follow, TokenStream } from './token-stream.js'

/** How deep rules may be in themselves, and how many turns left-recursive ones may take on the way there: that bounds the depth of the tree. */
export const maxDepth = 250
/** What a turn adds to the depth of a rule, so that one number tells both. What stands on the right of an operator is deeper by one as well. */
export const turn = 1024

/** It nests more deeply than any expression may. */
export class TooDeep extends Error {}

/** Rules that can be in themselves, each with how deep it is and how many turns it took. */
interface Depths {
  expr: number
  or: number
  and: number
  relation: number
  calc: number
  unary: number
  member: number
  list: number
  primary: number
  entries: number
}

export class RuleReader {
  protected readonly stream: TokenStream
  protected readonly report: (issue: Issue) => void
  protected readonly depths: Depths = { expr: 0, or: 0, and: 0, relation: 0, calc: 0, unary: 0, member: 0, list: 0, primary: 0, entries: 0 }

  constructor(stream: TokenStream, report: (issue: Issue) => void) {
    this.stream = stream
    this.report = report
  }

  /** Stands for what could not be read; there is a complaint already. */
  protected nothing(): Expr {
    return { kind: 'const', at: this.stream.current.at, value: null }
  }

  /** Gives how deep the rule was before; whoever ends it says so again. */
  protected begin(rule: keyof Depths, follow: Follow): number {
    const before = this.depths[rule]
    this.deepen(rule)
    this.stream.begin(follow)
    return before
  }

  protected deepen(rule: keyof Depths, by = 1): void {
    const depth = this.depths[rule] + by
    if (depth % turn > maxDepth || depth > (maxDepth + 1) * turn) throw new TooDeep()
    this.depths[rule] = depth
  }

  protected end(rule: keyof Depths, before: number): void {
    this.depths[rule] = before
    this.stream.end()
  }

  /** What a rule is in which there was something that does not belong there. */
  protected recover(rule: keyof Depths, thrown: unknown): Expr {
    this.stream.recover(rule, thrown)
    return this.nothing()
  }
}
