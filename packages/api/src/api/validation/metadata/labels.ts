// The rules of the two maps that every object may carry: labels and annotations.

import { type FieldError, invalid, tooLong } from '../field-error.js'
import { byteLength } from './byte-length.js'
import { noErrors } from './fields.js'
import { labelValue, qualifiedName } from './text-rules.js'

type TextMap = { readonly [key: string]: string }

const annotationsLimitBytes = 256 * 1024

export function validateLabels(labels: TextMap | undefined, field: string): readonly FieldError[] {
  if (labels === undefined) return noErrors
  const errors: FieldError[] = []
  for (const key in labels) {
    const value = labels[key] ?? ''
    for (const problem of qualifiedName(key)) errors.push(invalid(field, key, problem))
    for (const problem of labelValue(value)) errors.push(invalid(field, value, problem))
  }
  return errors
}

/** Keys as labels have them, but in any case; values are free, up to a common size. */
export function validateAnnotations(annotations: TextMap | undefined, field: string): readonly FieldError[] {
  if (annotations === undefined) return noErrors
  const errors: FieldError[] = []
  for (const key in annotations) for (const problem of qualifiedName(key.toLowerCase())) errors.push(invalid(field, key, problem))
  if (isOverLimit(annotations)) errors.push(tooLong(field, annotationsLimitBytes))
  return errors
}

/** Counting bytes is left for the rare case in which the count of characters does not settle it. */
function isOverLimit(annotations: TextMap): boolean {
  let characters = 0
  for (const key in annotations) characters += key.length + (annotations[key]?.length ?? 0)
  if (characters * 3 <= annotationsLimitBytes) return false
  let bytes = 0
  for (const key in annotations) bytes += byteLength(key) + byteLength(annotations[key] ?? '')
  return bytes > annotationsLimitBytes
}
