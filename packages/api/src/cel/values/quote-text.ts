// Texts in quotes, as messages of the reference show them: what cannot be printed is escaped.

import { canBePrinted } from '../base/can-be-printed.js'

const named: { readonly [letter: string]: string } = {
  '"': '\\"',
  '\\': '\\\\',
  '\u0007': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

const hex = (code: number, width: number): string => code.toString(16).padStart(width, '0')
const special = /["\\]|[^ -~]/gu

/** Letters of all scripts are shown as they are. */
export const quoteText = (text: string): string => `"${text.replace(special, escapeLetter)}"`

function escapeLetter(letter: string): string {
  const code = letter.codePointAt(0) as number
  const name = named[letter]
  if (name !== undefined) return name
  if (canBePrinted(letter)) return letter
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

/** As times are shown: each byte beyond printable ASCII by its number. */
export const quoteBytes = (text: string): string =>
  `"${text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^ -\u007f]/gu, (letter) => Array.from(new TextEncoder().encode(letter), (byte) => `\\x${hex(byte, 2)}`).join(''))}"`
