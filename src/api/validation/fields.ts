// Small checks of single fields that many kinds share: a text rule at a path, a port, a number that may not be negative, a field that may not change.

import { type FieldError, invalid } from '../field-error.js'
import { sameValue } from './same-value.js'
import type { TextRule } from './text-rules.js'

export const noErrors: readonly FieldError[] = Object.freeze([])

/** One error per problem that the rule finds. */
export function checkText(text: string, field: string, rule: TextRule): readonly FieldError[] {
  const problems = rule(text)
  return problems.length === 0 ? noErrors : problems.map((problem) => invalid(field, text, problem))
}

export const checkPort = (port: number, field: string): readonly FieldError[] =>
  port >= 1 && port <= 65535 ? noErrors : [invalid(field, port, 'must be between 1 and 65535, inclusive')]

export const checkNotNegative = (value: number | bigint, field: string): readonly FieldError[] =>
  value >= 0 ? noErrors : [invalid(field, value, 'must be greater than or equal to 0')]

export const checkUnchanged = (next: unknown, old: unknown, field: string): readonly FieldError[] =>
  sameValue(next, old) ? noErrors : [invalid(field, next, 'field is immutable')]
