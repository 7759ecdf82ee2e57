// Quotes texts in messages like Go: quoteText like `%q`, quoteBytes with non-ASCII characters as hexadecimal bytes.

import { isPrintable } from '../../base/text/is-printable.js'

const namedEscapes: { readonly [char: string]: string } = {
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

export const quoteText = (text: string): string => `"${text.replace(special, escapeChar)}"`

function escapeChar(char: string): string {
  const code = char.codePointAt(0) as number
  const name = namedEscapes[char]
  if (name !== undefined) return name
  if (isPrintable(char)) return char
  if (code < 0x80) return `\\x${hex(code, 2)}`
  return code > 0xffff ? `\\U${hex(code, 8)}` : `\\u${hex(code, 4)}`
}

export const quoteBytes = (text: string): string =>
  `"${text
    .replace(/["\\]/g, '\\$&')
    .replace(/[^ -\u007f]/gu, (char) => Array.from(new TextEncoder().encode(char), (byte) => `\\x${hex(byte, 2)}`).join(''))}"`
