// Numbers against a JSON schema: steps and bounds.

import { type FieldError, invalid } from '../../../api/field-error.js'
import type { JsonSchema } from '../json-schema.js'
import { fieldOf, type ValuePlace } from './value-place.js'

export function validateNumber(schema: JsonSchema, value: number | bigint, place: ValuePlace): readonly FieldError[] {
  const { multipleOf, minimum, maximum } = schema
  const wrong = (problem: string): FieldError => invalid(fieldOf(place), value, `${place.path} in body should be ${problem}`)
  const number = Number(value)
  const errors: FieldError[] = []
  if (multipleOf !== undefined && !isMultiple(number, multipleOf)) errors.push(wrong(`a multiple of ${printBound(multipleOf)}`))
  if (minimum !== undefined && (schema.exclusiveMinimum ? number <= minimum : number < minimum)) {
    errors.push(wrong(`greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${printBound(minimum)}`))
  }
  if (maximum !== undefined && (schema.exclusiveMaximum ? number >= maximum : number > maximum)) {
    errors.push(wrong(`less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${printBound(maximum)}`))
  }
  return errors
}

/** 0.3 is three times 0.1 although the division says otherwise in the last digit. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step
  return Math.abs(times - Math.round(times)) < 1e-9
}

/** With an exponent from a million on, as bounds have always been shown. */
function printBound(bound: number): string {
  const exponent = bound === 0 ? 0 : Math.floor(Math.log10(Math.abs(bound)))
  if (exponent >= -4 && exponent < 6) return String(bound)
  const [digits = '', power = ''] = bound.toExponential().split('e')
  return `${digits}e${power.slice(0, 1)}${power.slice(1).padStart(2, '0')}`
}
