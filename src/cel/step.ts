// A step of a planned expression: it evaluates itself and says what that cost.
//
// There are two ways to evaluate: at once, and in pieces, which gives way to other work inside walks over lists and maps. The second is for
// what turned out to be long; it exists for steps that contain a walk, the others are short.

import type { Run } from './run.js'
import type { Value } from './values.js'

/** Gives way wherever it yields. */
export type Pieces<T> = Generator<undefined, T>

export abstract class Step {
  /** Whether there is a walk over a list or a map in it. */
  readonly walks: boolean

  constructor(parts: readonly Step[], walks = false) {
    this.walks = walks || parts.some((part) => part.walks)
  }

  abstract evaluate(run: Run): Value
  /** The same, giving way. Called only where there is a walk. */
  abstract pieces(run: Run): Pieces<Value>
}

/** Gives way where there is a walk. */
export function* valueIn(step: Step, run: Run): Pieces<Value> {
  return step.walks ? yield* step.pieces(run) : step.evaluate(run)
}

export class Constant extends Step {
  readonly value: Value

  constructor(value: Value) {
    super([])
    this.value = value
  }

  override evaluate(): Value {
    return this.value
  }

  // biome-ignore lint/correctness/useYield: it is at once
  override *pieces(): Pieces<Value> {
    return this.value
  }
}
