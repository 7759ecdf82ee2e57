// Writes YAML scalars like kube-apiserver: plain, quoted or block style. Plain and quoted values are folded after 80 columns, keys are not.

import { floatText } from '../../base/text/float-text.js'
import { indentation } from '../indentation.js'
import { isBase60, resolvePlain } from './resolve-scalar.js'

const bestWidth = 80
const indentUnit = 2

export interface ScalarPosition {
  readonly column: number
  readonly indent: number
  /** True for a key before a colon, which must be on one line. */
  readonly isKey: boolean
}

export function writeScalar(value: string | number | bigint | boolean | null, position: ScalarPosition): string {
  if (typeof value === 'string') return writeText(value.toWellFormed(), position)
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? BigInt(value).toString() : floatText(value)
  return String(value)
}

const lineBreak = /[\n\u2028\u2029]/
const notPrintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
const spaceBeforeBreak = / \n/
const needsQuotes = /^[#,[\]{}&*!|>'"%@`]|^(?:---|\.\.\.)|^[?:-](?:[ \t]|$)|:(?:[ \t]|$)|[ \t\n]#|^ | $/

export function hasLineBreak(text: string): boolean {
  return lineBreak.test(text)
}

function writeText(text: string, position: ScalarPosition): string {
  const isSpecial = notPrintable.test(text) || /[\u2028\u2029]/.test(text)
  if (text.includes('\n')) {
    const canBeBlock = !isSpecial && !position.isKey && !text.endsWith(' ') && !spaceBeforeBreak.test(text)
    return canBeBlock ? writeBlock(text, position) : writeDoubleQuoted(text, position)
  }
  if (isSpecial || resolvePlain(text).type !== 'text' || isBase60(text) || text === '<<') return writeDoubleQuoted(text, position)
  return needsQuotes.test(text) ? writeSingleQuoted(text, position) : writePlain(text, position)
}

const newLine = (position: ScalarPosition): string => `\n${indentation(position.indent + indentUnit)}`

interface Folding {
  readonly position: ScalarPosition
  readonly column: number
  readonly escapePart: (part: string) => string
  readonly escapesSpaces: boolean
}

const space = 0x20

/** Breaks lines at spaces after column 80. Searches from space to space: a text may have a million characters. */
function fold(text: string, { position, column: start, escapePart, escapesSpaces }: Folding): string {
  let written = ''
  let column = start
  for (let from = 0; ; ) {
    const at = text.indexOf(' ', from)
    const part = escapePart(text.slice(from, at < 0 ? text.length : at))
    written += part
    if (at < 0) return written
    column += codePointCount(part)
    from = at + 1
    const isBeforeSpace = text.charCodeAt(from) === space
    const isFirstSpace = at > 0 && text.charCodeAt(at - 1) !== space
    if (column > bestWidth && isFirstSpace && from < text.length && !position.isKey && (escapesSpaces || !isBeforeSpace)) {
      const backslash = isBeforeSpace ? '\\' : ''
      written += newLine(position) + backslash
      column = position.indent + indentUnit + backslash.length
    } else {
      written += ' '
      column += 1
    }
  }
}

const highSurrogates = /[\ud800-\udbff]/g

const codePointCount = (text: string): number => text.length - (text.match(highSurrogates)?.length ?? 0)

const writePlain = (text: string, position: ScalarPosition): string =>
  position.column + text.length <= bestWidth
    ? text
    : fold(text, { position, column: position.column, escapePart: (part) => part, escapesSpaces: false })

const writeSingleQuoted = (text: string, position: ScalarPosition): string =>
  `'${fold(text, { position, column: position.column + 1, escapePart: (part) => part.replaceAll("'", "''"), escapesSpaces: false })}'`

/** Adds an indentation indicator if the text begins with a space or line feed. */
function writeBlock(text: string, position: ScalarPosition): string {
  const texts = text.split('\n')
  const start = indentation(position.indent + indentUnit, texts.length)
  const indentIndicator = /^[ \n]/.test(text) ? String(indentUnit) : ''
  const chompingIndicator = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : ''
  const lines = texts.map((line) => (line === '' ? '' : start + line))
  return `|${indentIndicator}${chompingIndicator}\n${lines.join('\n')}`
}

const escapes: ReadonlyMap<string, string> = new Map([
  ['\0', '\\0'],
  ['\x07', '\\a'],
  ['\b', '\\b'],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\v', '\\v'],
  ['\f', '\\f'],
  ['\r', '\\r'],
  ['\x1b', '\\e'],
  ['"', '\\"'],
  ['\\', '\\\\'],
  ['\x85', '\\N'],
  ['\u2028', '\\L'],
  ['\u2029', '\\P'],
])

const escapedCharacter = /["\\\n\u2028\u2029]|[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/gu

function escapeCharacter(character: string): string {
  const escapeSequence = escapes.get(character)
  if (escapeSequence !== undefined) return escapeSequence
  const point = character.codePointAt(0) ?? 0
  const hex = point.toString(16).toUpperCase()
  return point <= 0xff ? `\\x${hex.padStart(2, '0')}` : point <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

const writeDoubleQuoted = (text: string, position: ScalarPosition): string => {
  const escapePart = (part: string): string => part.replace(escapedCharacter, escapeCharacter)
  return `"${fold(text, { position, column: position.column + 1, escapePart, escapesSpaces: true })}"`
}
