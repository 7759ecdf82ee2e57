// Scanner of YAML scalars: plain, single-quoted, double-quoted, block.

import { type Cursor, endOfText, isBlank, isBreak, isBreakOrEnd, isSpace, isTab } from './cursor.js'
import { endOfBlanks, endOfDoubleQuoted, endOfLine, endOfPlain, endOfSingleQuoted } from './line-runs.js'
import { scanError } from './yaml-error.js'

const code = (character: string): number => character.charCodeAt(0)
const hash = code('#')
const backslash = code('\\')
const singleQuote = code("'")

/** White space between words of a plain or quoted scalar: one line break becomes a space, n line breaks become n - 1. */
interface Gap {
  readonly text: string
  readonly hasBreak: boolean
}

const noGap: Gap = { text: '', hasBreak: false }

interface GapRules {
  readonly minColumn?: number
  readonly afterEscapedBreak?: boolean
}

function takeGap(cursor: Cursor, rules: GapRules): Gap {
  let blanks = ''
  let firstBreak = ''
  let moreBreaks = ''
  let hasBreak = rules.afterEscapedBreak ?? false
  for (let next = cursor.code(); isBlank(next) || isBreak(next); next = cursor.code()) {
    if (isBreak(next)) {
      const taken = cursor.takeBreak()
      if (hasBreak) moreBreaks += taken
      else firstBreak = taken
      hasBreak = true
      continue
    }
    if (!hasBreak) {
      blanks = takeTo(cursor, endOfBlanks(cursor.text, cursor.at))
      continue
    }
    if (isTab(next) && cursor.column < (rules.minColumn ?? 0))
      throw scanError('found a tab character that violates indentation', cursor.line)
    cursor.advance()
  }
  if (!hasBreak) return { text: blanks, hasBreak }
  if (firstBreak === '\n') return { text: moreBreaks === '' ? ' ' : moreBreaks, hasBreak }
  return { text: firstBreak + moreBreaks, hasBreak }
}

interface PlainContext {
  readonly minColumn: number
  readonly inFlow: boolean
}

interface PlainScalar {
  readonly value: string
  readonly endsLine: boolean
}

export function scanPlain(cursor: Cursor, { minColumn, inFlow }: PlainContext): PlainScalar {
  let value = ''
  let gap = noGap
  while (!cursor.isAtDocumentMark('---') && !cursor.isAtDocumentMark('...') && cursor.code() !== hash) {
    const end = endOfPlain(cursor.text, cursor.at, inFlow)
    if (end > cursor.at) {
      value += gap.text + takeTo(cursor, end)
      gap = noGap
    }
    const next = cursor.code()
    if (!isBlank(next) && !isBreak(next)) break
    gap = takeGap(cursor, { minColumn })
    if (!inFlow && cursor.column < minColumn) break
  }
  return { value, endsLine: gap.hasBreak }
}

export function scanQuoted(cursor: Cursor): string {
  const quote = cursor.code()
  cursor.advance()
  let value = ''
  for (;;) {
    if (cursor.isAtDocumentMark('---') || cursor.isAtDocumentMark('...'))
      throw scanError('found unexpected document indicator', cursor.line)
    if (cursor.code() === endOfText) throw scanError('found unexpected end of stream', cursor.line)
    const run = quote === singleQuote ? takeSingleQuotedRun(cursor) : takeDoubleQuotedRun(cursor)
    value += run.text
    if (cursor.code() === quote) break
    value += takeGap(cursor, { afterEscapedBreak: run.endsInEscapedBreak }).text
  }
  cursor.advance()
  return value
}

interface QuotedRun {
  readonly text: string
  readonly endsInEscapedBreak: boolean
}

/** Reads `''` as one quote. */
function takeSingleQuotedRun(cursor: Cursor): QuotedRun {
  let text = ''
  for (;;) {
    text += takeTo(cursor, endOfSingleQuoted(cursor.text, cursor.at))
    if (cursor.code() !== singleQuote || cursor.code(1) !== singleQuote) return { text, endsInEscapedBreak: false }
    cursor.advance(2)
    text += "'"
  }
}

function takeDoubleQuotedRun(cursor: Cursor): QuotedRun {
  let text = ''
  for (;;) {
    text += takeTo(cursor, endOfDoubleQuoted(cursor.text, cursor.at))
    if (cursor.code() !== backslash) return { text, endsInEscapedBreak: false }
    if (isBreak(cursor.code(1))) {
      cursor.advance()
      cursor.takeBreak()
      return { text, endsInEscapedBreak: true }
    }
    text += takeEscape(cursor)
  }
}

const escapes: ReadonlyMap<number, string> = new Map(
  Object.entries({
    '0': '\0',
    a: '\x07',
    b: '\b',
    t: '\t',
    '\t': '\t',
    n: '\n',
    v: '\v',
    f: '\f',
    r: '\r',
    e: '\x1b',
    ' ': ' ',
    '"': '"',
    "'": "'",
    '/': '/',
    '\\': '\\',
    N: '\x85',
    _: '\xa0',
    L: '\u2028',
    P: '\u2029',
  }).map(([name, meaning]) => [code(name), meaning]),
)
const hexLengths: ReadonlyMap<number, number> = new Map([
  [code('x'), 2],
  [code('u'), 4],
  [code('U'), 8],
])

function takeEscape(cursor: Cursor): string {
  const name = cursor.code(1)
  const meaning = escapes.get(name)
  if (meaning !== undefined) {
    cursor.advance(2)
    return meaning
  }
  const length = hexLengths.get(name)
  if (length === undefined) throw scanError('found unknown escape character', cursor.line)
  cursor.advance(2)
  const digits = cursor.text.slice(cursor.at, cursor.at + length)
  if (digits.length < length || !/^[0-9A-Fa-f]+$/.test(digits)) throw scanError('did not find expected hexdecimal number', cursor.line)
  const point = Number.parseInt(digits, 16)
  if ((point >= 0xd800 && point <= 0xdfff) || point > 0x10ffff) throw scanError('found invalid Unicode character escape code', cursor.line)
  cursor.advance(length)
  return String.fromCodePoint(point)
}

interface BlockHeader {
  readonly chomping: 'strip' | 'clip' | 'keep'
  readonly increment: number
}

/** Reads a block scalar, beginning with `|` or `>`. */
export function scanBlock(cursor: Cursor, parentIndent: number): string {
  const isFolded = cursor.take() === '>'
  const { chomping, increment } = takeBlockHeader(cursor)
  const explicitIndent = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment
  const head = takeBlockBreaks(cursor, explicitIndent, parentIndent)
  const indent = head.indent
  let value = ''
  let lineBreak = ''
  let moreBreaks = head.breaks
  let wasBlank = false
  while (cursor.column === indent && cursor.code() !== endOfText) {
    const startsBlank = isBlank(cursor.code())
    const folds = isFolded && lineBreak === '\n' && !wasBlank && !startsBlank
    value += (folds ? (moreBreaks === '' ? ' ' : '') : lineBreak) + moreBreaks + takeLine(cursor)
    wasBlank = startsBlank
    lineBreak = isBreak(cursor.code()) ? cursor.takeBreak() : ''
    moreBreaks = takeBlockBreaks(cursor, indent, parentIndent).breaks
  }
  if (chomping === 'strip') return value
  return chomping === 'keep' ? value + lineBreak + moreBreaks : value + lineBreak
}

function takeBlockHeader(cursor: Cursor): BlockHeader {
  const match = /^(?:([+-])([0-9])?|([0-9])([+-])?)?/.exec(cursor.text.slice(cursor.at, cursor.at + 2))
  const sign = match?.[1] ?? match?.[4]
  const digit = match?.[2] ?? match?.[3]
  cursor.advance(match?.[0].length ?? 0)
  if (digit === '0') throw scanError('found an indentation indicator equal to 0', cursor.line)
  while (isBlank(cursor.code())) cursor.advance()
  if (cursor.code() === hash) takeLine(cursor)
  if (!isBreakOrEnd(cursor.code())) throw scanError('did not find expected comment or line break', cursor.line)
  if (isBreak(cursor.code())) cursor.takeBreak()
  return { chomping: sign === '-' ? 'strip' : sign === '+' ? 'keep' : 'clip', increment: digit === undefined ? 0 : Number(digit) }
}

function takeBlockBreaks(cursor: Cursor, indent: number, parentIndent: number): { readonly breaks: string; readonly indent: number } {
  let breaks = ''
  let deepest = 0
  for (;;) {
    while ((indent === 0 || cursor.column < indent) && isSpace(cursor.code())) cursor.advance()
    deepest = Math.max(deepest, cursor.column)
    if ((indent === 0 || cursor.column < indent) && isTab(cursor.code()))
      throw scanError('found a tab character where an indentation space is expected', cursor.line)
    if (!isBreak(cursor.code())) break
    breaks += cursor.takeBreak()
  }
  return { breaks, indent: indent === 0 ? Math.max(deepest, parentIndent + 1, 1) : indent }
}

const takeLine = (cursor: Cursor): string => takeTo(cursor, endOfLine(cursor.text, cursor.at))

const takeTo = (cursor: Cursor, end: number): string => cursor.take(end - cursor.at)
