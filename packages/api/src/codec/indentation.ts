// Indentation of one text, up to a limit: as YAML or indented JSON, 400 kB of deeply nested JSON have 400 MB.

import { ApiError } from '../api/api-error.js'

const maxCharacters = 64 << 20
const limit = `the object is nested too deeply for YAML or indented JSON, which would have more than ${maxCharacters} spaces`

/** Of the text that is being written. */
let characters = 0

export function beginText(): void {
  characters = 0
}

/** Spaces for the beginning of so many lines. Throws 406 above the limit. */
export function indentation(width: number, lines = 1): string {
  characters += width * lines
  if (characters > maxCharacters) throw new ApiError({ code: 406, reason: 'NotAcceptable', message: limit })
  return ' '.repeat(width)
}
