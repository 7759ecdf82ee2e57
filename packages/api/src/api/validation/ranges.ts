// Validation of numbers: within bounds, positive.

import { type FieldError, invalid } from '../field-error.js'
import { noErrors } from './checks.js'

export const maxInt32 = 2147483647

interface Bounds {
  readonly min: number
  readonly max: number
}

export const checkRange = (value: number | bigint, field: string, { min, max }: Bounds): readonly FieldError[] =>
  value >= min && value <= max ? noErrors : [invalid(field, value, `must be between ${min} and ${max}, inclusive`)]

export const checkPositive = (value: number | bigint, field: string): readonly FieldError[] =>
  value > 0 ? noErrors : [invalid(field, value, 'must be greater than zero')]
