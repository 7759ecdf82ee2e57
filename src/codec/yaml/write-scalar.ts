// How a single value is written in YAML: which texts need quotes, which become blocks, and where long ones are folded.

import { formatFloat } from './format-float.js'
import { isBase60, resolvePlain } from './resolve-scalar.js'

const bestWidth = 80
const indentUnit = 2

export interface ScalarPlace {
  /** Where the value begins. */
  readonly column: number
  /** The indentation of what the value belongs to; its own further lines are indented deeper. */
  readonly indent: number
  /** Before a colon on the same line: no line breaks. */
  readonly isKey: boolean
}

export function writeScalar(value: string | number | bigint | boolean | null, place: ScalarPlace): string {
  if (typeof value === 'string') return writeText(value.toWellFormed(), place)
  if (typeof value === 'number') return Number.isInteger(value) && Math.abs(value) < 2 ** 64 ? BigInt(value).toString() : formatFloat(value)
  return String(value)
}

/** A line break in a text, or characters of which only an escape tells what they are. */
const lineBreak = /[\n\u2028\u2029]/
const notPrintable = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]/
const spaceBeforeBreak = / \n/
const needsQuotes = /^[#,[\]{}&*!|>'"%@`]|^(?:---|\.\.\.)|^[?:-](?:[ \t]|$)|:(?:[ \t]|$)|[ \t\n]#|^ | $/

export function hasLineBreak(text: string): boolean {
  return lineBreak.test(text)
}

function writeText(text: string, place: ScalarPlace): string {
  const isSpecial = notPrintable.test(text) || /[\u2028\u2029]/.test(text)
  if (text.includes('\n')) {
    const canBeBlock = !isSpecial && !place.isKey && !text.endsWith(' ') && !spaceBeforeBreak.test(text)
    return canBeBlock ? writeBlock(text, place) : writeDoubleQuoted(text, place)
  }
  if (isSpecial || resolvePlain(text).type !== 'text' || isBase60(text) || text === '<<') return writeDoubleQuoted(text, place)
  return needsQuotes.test(text) ? writeSingleQuoted(text, place) : writePlain(text, place)
}

const newLine = (place: ScalarPlace): string => `\n${' '.repeat(place.indent + indentUnit)}`

interface Folding {
  readonly place: ScalarPlace
  /** Where the text begins. */
  readonly column: number
  /** What is written for a part without spaces. */
  readonly show: (part: string) => string
  /** Whether a line may also end before a further space, which then is escaped. */
  readonly escapesSpaces: boolean
}

const space = 0x20

/** Folds at a space between two words once the line has grown past the width. Goes from space to space: a text may have a million characters. */
function fold(text: string, { place, column: start, show, escapesSpaces }: Folding): string {
  let written = ''
  let column = start
  for (let from = 0; ; ) {
    const at = text.indexOf(' ', from)
    const part = show(text.slice(from, at < 0 ? text.length : at))
    written += part
    if (at < 0) return written
    column += lengthOf(part)
    from = at + 1
    const isFollowed = text.charCodeAt(from) === space
    const isFirst = at > 0 && text.charCodeAt(at - 1) !== space
    if (column > bestWidth && isFirst && from < text.length && !place.isKey && (escapesSpaces || !isFollowed)) {
      const sign = isFollowed ? '\\' : ''
      written += newLine(place) + sign
      column = place.indent + indentUnit + sign.length
    } else {
      written += ' '
      column += 1
    }
  }
}

const highSurrogates = /[\ud800-\udbff]/g

/** In characters. */
const lengthOf = (text: string): number => text.length - (text.match(highSurrogates)?.length ?? 0)

const writePlain = (text: string, place: ScalarPlace): string =>
  place.column + text.length <= bestWidth ? text : fold(text, { place, column: place.column, show: (part) => part, escapesSpaces: false })

const writeSingleQuoted = (text: string, place: ScalarPlace): string =>
  `'${fold(text, { place, column: place.column + 1, show: (part) => part.replaceAll("'", "''"), escapesSpaces: false })}'`

/** `|`, with a hint where the first line begins with white space, and how many line breaks end the text. */
function writeBlock(text: string, place: ScalarPlace): string {
  const indentation = ' '.repeat(place.indent + indentUnit)
  const indentHint = /^[ \n]/.test(text) ? String(indentUnit) : ''
  const endHint = !text.endsWith('\n') ? '-' : text === '\n' || text.endsWith('\n\n') ? '+' : ''
  const lines = text.split('\n').map((line) => (line === '' ? '' : indentation + line))
  return `|${indentHint}${endHint}\n${lines.join('\n')}`
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
  const known = escapes.get(character)
  if (known !== undefined) return known
  const point = character.codePointAt(0) ?? 0
  const hex = point.toString(16).toUpperCase()
  return point <= 0xff ? `\\x${hex.padStart(2, '0')}` : point <= 0xffff ? `\\u${hex.padStart(4, '0')}` : `\\U${hex.padStart(8, '0')}`
}

const writeDoubleQuoted = (text: string, place: ScalarPlace): string => {
  const show = (part: string): string => part.replace(escapedCharacter, escapeCharacter)
  return `"${fold(text, { place, column: place.column + 1, show, escapesSpaces: true })}"`
}
