// Amounts that are given as a number or as a share of the whole, such as `25%`.

import { type FieldError, invalid } from '../field-error.js'
import { checkNotNegative, checkText, noErrors } from './fields.js'
import { grammarProblem, noProblems, type TextRule } from './text-rules.js'

const percentPattern = '[0-9]+%'
const percent = new RegExp(`^${percentPattern}$`)
const percentProblems = Object.freeze([
  grammarProblem("a valid percent string must be a numeric string followed by an ending '%'", percentPattern, '1%', '93%'),
])

const percentText: TextRule = (text) => (percent.test(text) ? noProblems : percentProblems)

export const checkIntOrPercent = (value: number | string, field: string): readonly FieldError[] =>
  typeof value === 'number' ? checkNotNegative(value, field) : checkText(value, field, percentText)

const wholeNumber = /^[+-]?[0-9]+$/

/** The number, or how many per cent; a text that is neither counts as nothing. */
export const amountOf = (value: number | string): number =>
  typeof value === 'number' ? value : percent.test(value) ? Number(value.slice(0, -1)) : wholeNumber.test(value) ? Number(value) : 0

export const checkAtMostAll = (value: number | string, field: string): readonly FieldError[] =>
  typeof value === 'string' && percent.test(value) && amountOf(value) > 100
    ? [invalid(field, value, 'must not be greater than 100%')]
    : noErrors
