// Validation of metadata.labels and metadata.annotations.

import { type FieldError, invalid, tooLong } from '../../field-error.js'
import { byteLength } from '../byte-length.js'
import { noErrors } from '../checks.js'
import { labelValue, qualifiedName } from '../name-formats.js'

type TextMap = { readonly [key: string]: string }

const maxAnnotationsBytes = 256 * 1024

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

/** Checks the lower-cased keys like label keys, and the total size of keys and values. */
export function validateAnnotations(annotations: TextMap | undefined, field: string): readonly FieldError[] {
  if (annotations === undefined) return noErrors
  const errors: FieldError[] = []
  for (const key in annotations) for (const problem of qualifiedName(key.toLowerCase())) errors.push(invalid(field, key, problem))
  if (isOverLimit(annotations)) errors.push(tooLong(field, maxAnnotationsBytes))
  return errors
}

function isOverLimit(annotations: TextMap): boolean {
  let characters = 0
  for (const key in annotations) characters += key.length + (annotations[key]?.length ?? 0)
  // A UTF-16 code unit takes at most three bytes.
  if (characters * 3 <= maxAnnotationsBytes) return false
  let bytes = 0
  for (const key in annotations) bytes += byteLength(key) + byteLength(annotations[key] ?? '')
  return bytes > maxAnnotationsBytes
}
