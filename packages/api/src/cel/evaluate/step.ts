// Step of a planned CEL expression. Evaluates synchronously, or in time slices if it contains a comprehension.

import type { Value } from '../values/values.js'
import type { Run } from './run.js'

export type Chunks<T> = Generator<undefined, T>

export abstract class Step {
  /** The step or an operand iterates over a list or map. */
  readonly hasComprehension: boolean

  constructor(operands: readonly Step[], hasComprehension = false) {
    this.hasComprehension = hasComprehension || operands.some((operand) => operand.hasComprehension)
  }

  abstract evaluate(run: Run): Value
  /** Evaluates in time slices. Called only if `hasComprehension`. */
  abstract chunks(run: Run): Chunks<Value>
}

export function* evaluateStep(step: Step, run: Run): Chunks<Value> {
  return step.hasComprehension ? yield* step.chunks(run) : step.evaluate(run)
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

  // biome-ignore lint/correctness/useYield: a constant takes no time
  override *chunks(): Chunks<Value> {
    return this.value
  }
}
