// An expression from its text to a program: parsed, checked, planned; then evaluated as often as one likes.

import { CelTypeError, type Checked, checkTypes, type Environment } from './check.js'
import { CelSyntaxError, parseExpression } from './parse.js'
import { CelPlanError, planExpression } from './plan.js'
import { CostExceeded, Run, TooLong } from './run.js'
import type { Pieces, Step } from './step.js'
import { dynType, type Type } from './types.js'
import { CelError, type Value } from './values.js'

/** The expression cannot be used; the message says why and where. */
export class CelCompileError extends Error {}

export interface Evaluation {
  readonly value: Value
  readonly cost: number
}

type Variables = { readonly [name: string]: Value }

/** What is cheaper than this is never worth giving way for: well below a millisecond. */
const patience = 10_000

/** Neither way of evaluating throws: what goes wrong is a {@link CelError}. */
export class Program {
  readonly checked: Checked
  readonly type: Type
  private readonly step: Step

  constructor(checked: Checked, step: Step) {
    this.checked = checked
    this.type = checked.types.get(checked.expr) ?? dynType
    this.step = step
  }

  /** Whether the expression speaks of a variable. */
  mentions(name: string): boolean {
    for (const expr of this.checked.types.keys()) if (expr.kind === 'ident' && expr.name === name) return true
    return false
  }

  evaluate(variables: Variables, costLimit: number): Evaluation {
    const run = new Run(variables, costLimit)
    try {
      return { value: this.step.evaluate(run), cost: run.cost }
    } catch (thrown) {
      return exceeded(thrown, run)
    }
  }

  /**
   * Yields to the event loop. Most evaluations are short and do not yield; one that turns out to be long begins again, so that short ones cost
   * nothing extra.
   */
  *evaluateInPieces(variables: Variables, costLimit: number): Pieces<Evaluation> {
    const first = new Run(variables, costLimit, this.step.walks ? patience : undefined)
    try {
      return { value: this.step.evaluate(first), cost: first.cost }
    } catch (thrown) {
      if (!(thrown instanceof TooLong)) return exceeded(thrown, first)
    }
    const run = new Run(variables, costLimit)
    try {
      return { value: yield* this.step.pieces(run), cost: run.cost }
    } catch (thrown) {
      return exceeded(thrown, run)
    }
  }
}

function exceeded(thrown: unknown, { cost }: Run): Evaluation {
  if (thrown instanceof CostExceeded) return { value: new CelError(thrown.message), cost }
  throw thrown
}

/** Throws {@link CelCompileError}. */
export function compileExpression(text: string, environment: Environment): Program {
  try {
    const checked = checkTypes(text, parseExpression(text), environment)
    return new Program(checked, planExpression(checked))
  } catch (thrown) {
    if (thrown instanceof CelSyntaxError || thrown instanceof CelTypeError)
      throw new CelCompileError(`compilation failed: ${thrown.message}`)
    if (thrown instanceof CelPlanError) throw new CelCompileError(`program instantiation failed: ${thrown.message}`)
    throw thrown
  }
}
