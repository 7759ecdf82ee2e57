// What config maps and secrets have in common: keys that may become files, a limit of size, and a seal.

import { type FieldError, forbidden, invalid } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { configKey } from '../../api/validation/text-rules.js'

type TextMap = { readonly [key: string]: string }

export const dataLimitBytes = 1024 * 1024

export function checkKeys(data: TextMap | undefined, field: string): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const key in data) for (const problem of configKey(key)) errors.push(invalid(`${field}[${key}]`, key, problem))
  return errors
}

/** Whether texts and base64 values together are over the limit; bytes are counted only where characters do not settle it. */
export function isOverDataLimit(texts: TextMap | undefined, base64: TextMap | undefined): boolean {
  let characters = 0
  for (const key in texts) characters += texts[key]?.length ?? 0
  for (const key in base64) characters += base64[key]?.length ?? 0
  if (characters * 3 <= dataLimitBytes) return false
  let bytes = 0
  for (const key in texts) bytes += byteLength(texts[key] ?? '')
  for (const key in base64) bytes += decodedLength(base64[key] ?? '')
  return bytes > dataLimitBytes
}

/** How many bytes a padded base64 text stands for. */
const decodedLength = (base64: string): number => (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)

/** Once sealed, an object stays so, and its data too. */
export const sealed = (field: string): FieldError => forbidden(field, 'field is immutable when `immutable` is set')
