// Numbers against a JSON schema: steps and bounds.

import { type FieldError, invalid } from '../../../api/field-error.js'
import { floatText } from '../../../base/float-text.js'
import type { JsonSchema } from '../json-schema.js'
import { fieldOf, type ValuePlace } from './value-place.js'

interface Found {
  /** The words are made for those who want them. */
  add(describe: () => FieldError): void
}

/** Beside a whole number bounds are whole, too: as in the reference, their fractions are cut off, so that 1 is not below 1.5. */
export function validateNumber(schema: JsonSchema, value: number | bigint, place: ValuePlace, found: Found): void {
  const number = Number(value)
  const isWhole = Number.isInteger(number)
  const bound = (given: number | undefined): number | undefined => (isWhole && given !== undefined ? Math.trunc(given) : given)
  const print = (given: number): string => (isWhole && Number.isInteger(given) ? BigInt(given).toString() : floatText(given))
  const addWrong = (problem: () => string): void =>
    found.add(() => invalid(fieldOf(place), value, `${place.path} in body should be ${problem()}`))
  // What is less than one stays what it is: nothing is a multiple of zero.
  const step = bound(schema.multipleOf) || schema.multipleOf
  if (step !== undefined && !isMultiple(number, step)) addWrong(() => `a multiple of ${print(step)}`)
  const minimum = bound(schema.minimum)
  if (minimum !== undefined && (schema.exclusiveMinimum ? number <= minimum : number < minimum)) {
    addWrong(() => `greater than ${schema.exclusiveMinimum ? '' : 'or equal to '}${print(minimum)}`)
  }
  const maximum = bound(schema.maximum)
  if (maximum !== undefined && (schema.exclusiveMaximum ? number >= maximum : number > maximum)) {
    addWrong(() => `less than ${schema.exclusiveMaximum ? '' : 'or equal to '}${print(maximum)}`)
  }
}

const tolerance = 1e-9

/** Nearly a whole number of times from above: what is missing to the next one is missing. */
function isMultiple(value: number, step: number): boolean {
  const times = Math.abs(step < 1 ? (1 / step) * value : value / step)
  const whole = Math.trunc(times)
  return times === whole || (whole !== 0 && (times - whole) / (times + whole) < tolerance)
}
