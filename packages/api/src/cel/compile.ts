// Compiles a CEL expression to a program: parse, type-check, plan. Programs are immutable and evaluate any number of times.

import { CelPlanError, planExpression } from './evaluate/plan.js'
import { CostExceeded, EvaluationTooLong, Run } from './evaluate/run.js'
import type { Chunks, Step } from './evaluate/step.js'
import { CelSyntaxError, parseExpression } from './syntax/parse.js'
import { CelTypeError, type Checked, checkTypes, type Environment } from './types/type-check.js'
import { dynType, type Type } from './types/types.js'
import { CelError, type Value } from './values/values.js'

export class CelCompileError extends Error {}

interface Evaluation {
  readonly value: Value
  readonly cost: number
}

type Variables = { readonly [name: string]: Value }

/** CEL cost up to which an expression with a macro is evaluated without yielding: a few milliseconds at worst. */
const maxSyncCost = 3000

/** Evaluation errors are returned as {@link CelError} values, not thrown. */
export class Program {
  readonly checked: Checked
  readonly type: Type
  private readonly step: Step

  constructor(checked: Checked, step: Step) {
    this.checked = checked
    this.type = checked.types.get(checked.expr) ?? dynType
    this.step = step
  }

  mentions(name: string): boolean {
    for (const expr of this.checked.types.keys()) if (expr.kind === 'ident' && expr.name === name) return true
    return false
  }

  evaluate(variables: Variables, costLimit: number): Evaluation {
    const run = new Run(variables, costLimit)
    try {
      return { value: this.step.evaluate(run), cost: run.cost }
    } catch (thrown) {
      return costExceeded(thrown, run)
    }
  }

  /** Tries synchronously first. An evaluation that takes too long starts again in time slices. */
  *evaluateInChunks(variables: Variables, costLimit: number): Chunks<Evaluation> {
    const first = new Run(variables, costLimit, this.step.hasComprehension ? maxSyncCost : undefined)
    try {
      return { value: this.step.evaluate(first), cost: first.cost }
    } catch (thrown) {
      if (!(thrown instanceof EvaluationTooLong)) return costExceeded(thrown, first)
    }
    const run = new Run(variables, costLimit)
    try {
      return { value: yield* this.step.chunks(run), cost: run.cost }
    } catch (thrown) {
      return costExceeded(thrown, run)
    }
  }
}

function costExceeded(thrown: unknown, { cost }: Run): Evaluation {
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
