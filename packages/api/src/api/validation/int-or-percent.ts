// Validation of IntOrString values: a number or a percentage such as `25%`.

import { type FieldError, invalid } from '../field-error.js'
import { checkNotNegative, checkText, noErrors } from './checks.js'
import { grammarProblem, noProblems, type TextRule } from './name-formats.js'

const percentPattern = '[0-9]+%'
const percent = new RegExp(`^${percentPattern}$`)
const percentProblems = Object.freeze([
  grammarProblem("a valid percent string must be a numeric string followed by an ending '%'", percentPattern, '1%', '93%'),
])

const percentText: TextRule = (text) => (percent.test(text) ? noProblems : percentProblems)

export const checkIntOrPercent = (value: number | string, field: string): readonly FieldError[] =>
  typeof value === 'number' ? checkNotNegative(value, field) : checkText(value, field, percentText)

const wholeNumber = /^[+-]?[0-9]+$/

/** The number of a percentage or decimal text; 0 for other texts. */
export const amountOf = (value: number | string): number =>
  typeof value === 'number' ? value : percent.test(value) ? Number(value.slice(0, -1)) : wholeNumber.test(value) ? Number(value) : 0

export const checkAtMost100Percent = (value: number | string, field: string): readonly FieldError[] =>
  typeof value === 'string' && percent.test(value) && amountOf(value) > 100
    ? [invalid(field, value, 'must not be greater than 100%')]
    : noErrors
