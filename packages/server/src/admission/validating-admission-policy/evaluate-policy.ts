// The expressions of one policy, asked one after the other within a budget, in pieces that never hold the event loop.

import type { Call } from '../../api/call.js'
import type { Pieces } from '../../cel/step.js'
import { CelError, type Value } from '../../cel/values.js'
import type { ValidatingAdmissionPolicy } from '../../resources/admissionregistration/v1alpha1.schema.js'
import type { CompiledPolicy, CompiledValidation } from './compiled-policy.js'

/** What one expression may cost, and all of a policy for one binding. */
export const expressionLimit = 1_000_000
export const policyBudget = 10_000_000

export interface Decision {
  /** What failed and does not count is told, too. */
  readonly isDenied: boolean
  readonly message: string
  /** Why it is refused, in one word of the API. */
  readonly reason: string
  readonly seconds: number
}

/** For whoever wants to know what an expression gave and cost. */
export interface Asked {
  readonly index: number
  readonly compiled: CompiledValidation
  readonly value: Value
  readonly cost: number
  readonly variables: Variables
}

export type Variables = { readonly [name: string]: Value }

/** Evaluates a policy in a worker thread. `variables` are plain data, as in JSON. */
export type EvaluateInWorker = (call: Call, policy: ValidatingAdmissionPolicy, variables: PlainVariables) => Promise<readonly Decision[]>

export type PlainVariables = { readonly [name: string]: unknown }

export interface EvaluationOptions {
  readonly observe?: ((policy: CompiledPolicy, asked: Asked) => void) | undefined
}

/** Those that do not simply hold; gives way where it yields. */
export function* evaluatePolicy(
  policy: CompiledPolicy,
  variables: Variables,
  { observe }: EvaluationOptions = {},
): Pieces<readonly Decision[]> {
  const decisions: Decision[] = []
  let budget = policyBudget
  for (const [index, compiled] of (yield* policy.validations()).entries()) {
    const begunMs = performance.now()
    const failed = (message: string): Decision => ({
      isDenied: !policy.isLenient,
      message,
      reason: 'Invalid',
      seconds: (performance.now() - begunMs) / 1000,
    })
    if (compiled.program === undefined) {
      decisions.push(failed(`compilation error: ${compiled.problem}`))
      continue
    }
    const { value, cost } = yield* compiled.program.evaluateInPieces(variables, expressionLimit)
    observe?.(policy, { index, compiled, value, cost, variables })
    budget -= cost
    yield
    if (budget < 0) {
      decisions.push(failed('validation failed due to running out of cost budget, no further validation rules will be run'))
      break
    }
    if (value instanceof CelError)
      decisions.push(failed(`expression '${compiled.validation.expression ?? ''}' resulted in error: ${value.message}`))
    else if (value !== true)
      decisions.push({ ...failed(refusalOf(compiled)), isDenied: true, reason: compiled.validation.reason ?? 'Invalid' })
  }
  return decisions
}

function refusalOf({ validation: { message = '', expression = '' } }: CompiledValidation): string {
  return message === '' ? `failed expression: ${expression.trim()}` : message.trim()
}
