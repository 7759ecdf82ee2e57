// Checks of numbers: between bounds, above zero.

import { type FieldError, invalid } from '../field-error.js'
import { noErrors } from './fields.js'

export const maxInt32 = 2147483647

export interface Bounds {
  readonly min: number
  readonly max: number
}

/** A number between two bounds, which belong to it. */
export const checkRange = (value: number | bigint, field: string, { min, max }: Bounds): readonly FieldError[] =>
  value >= min && value <= max ? noErrors : [invalid(field, value, `must be between ${min} and ${max}, inclusive`)]

export const checkPositive = (value: number | bigint, field: string): readonly FieldError[] =>
  value > 0 ? noErrors : [invalid(field, value, 'must be greater than zero')]
