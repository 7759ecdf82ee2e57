// Parameters that are passed on to a driver: any keys and values, within bounds.

import { type FieldError, invalid, tooLong } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { noErrors } from '../../api/validation/fields.js'

const limitBytes = 256 * 1024

export function checkParameters(
  parameters: { readonly [name: string]: string } | undefined,
  field: string,
  { maxCount }: { readonly maxCount: number },
): readonly FieldError[] {
  if (parameters === undefined) return noErrors
  const names = Object.keys(parameters)
  if (names.length > maxCount) return [tooLong(field, maxCount)]
  const size = names.reduce((sum, name) => sum + byteLength(name) + byteLength(parameters[name] ?? ''), 0)
  const unnamed = names.includes('') ? [invalid(field, '', 'field can not be empty.')] : noErrors
  return size > limitBytes ? [...unnamed, tooLong(field, limitBytes)] : unnamed
}
