// Parameters that are passed on to a driver: any keys and values, within bounds.

import { type FieldError, invalid, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { noErrors } from '../../api/validation/fields.js'

export const parametersLimitBytes = 256 * 1024

type Parameters = { readonly [name: string]: string }

/** Whether names and values together are larger than may be. */
export function isOverSize(parameters: Parameters): boolean {
  let size = 0
  for (const name in parameters) size += byteLength(name) + byteLength(parameters[name] ?? '')
  return size > parametersLimitBytes
}

export function checkParameters(
  parameters: Parameters | undefined,
  field: string,
  { maxCount }: { readonly maxCount: number },
): readonly FieldError[] {
  if (parameters === undefined) return noErrors
  const names = Object.keys(parameters)
  if (names.length > maxCount) return [tooLong(field, maxCount)]
  const unnamed = names.includes('') ? [invalid(field, '', 'field can not be empty.')] : noErrors
  return isOverSize(parameters) ? [...unnamed, tooLong(field, parametersLimitBytes)] : unnamed
}
