// Evaluates the CEL expressions of one policy in order, within a cost budget.

import { systemTimers } from '../../../base/clock.js'
import { turnBudget } from '../../../base/turn-budget.js'
import { CelError, type Value } from '../../../cel/values/values.js'
import type { CompiledPolicy, CompiledValidation, Turns } from './compiled-policy.js'

/** Cost limit of one expression, and of all expressions of a policy for one binding. */
export const expressionLimit = 1_000_000
const maxPolicyCost = 10_000_000

export interface Decision {
  readonly isDenied: boolean
  readonly message: string
  readonly reason: string
  /** Evaluation time. */
  readonly seconds: number
}

export interface EvaluatedExpression {
  readonly index: number
  readonly compiled: CompiledValidation
  readonly value: Value
  readonly cost: number
  readonly variables: Variables
}

export type Variables = { readonly [name: string]: Value }

interface EvaluationOptions {
  readonly observe?: ((policy: CompiledPolicy, evaluated: EvaluatedExpression) => void) | undefined
  readonly turns?: Turns
}

export async function evaluatePolicy(
  policy: CompiledPolicy,
  variables: Variables,
  { observe, turns = turnBudget }: EvaluationOptions = {},
): Promise<readonly Decision[]> {
  const decisions: Decision[] = []
  let remainingCost = maxPolicyCost
  for (const [index, compiled] of (await policy.validations(turns)).entries()) {
    const startMs = systemTimers.now()
    const failed = (message: string): Decision => ({
      isDenied: !policy.shouldIgnoreFailure,
      message,
      reason: 'Invalid',
      seconds: (systemTimers.now() - startMs) / 1000,
    })
    if (compiled.program === undefined) {
      decisions.push(failed(`compilation error: ${compiled.problem}`))
      continue
    }
    const { value, cost } = await runInSlices(compiled.program.evaluateInChunks(variables, expressionLimit), turns)
    observe?.(policy, { index, compiled, value, cost, variables })
    remainingCost -= cost
    if (remainingCost < 0) {
      decisions.push(failed('validation failed due to running out of cost budget, no further validation rules will be run'))
      break
    }
    if (value instanceof CelError)
      decisions.push(failed(`expression '${compiled.validation.expression ?? ''}' resulted in error: ${value.message}`))
    else if (value !== true)
      decisions.push({ ...failed(denialMessage(compiled)), isDenied: true, reason: compiled.validation.reason ?? 'Invalid' })
  }
  return decisions
}

function denialMessage({ validation: { message = '', expression = '' } }: CompiledValidation): string {
  return message === '' ? `failed expression: ${expression.trim()}` : message.trim()
}

async function runInSlices<T>(work: Generator<undefined, T>, turns: Turns): Promise<T> {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
    if (turns.isSpent) await turns.nextTurn()
  }
}
