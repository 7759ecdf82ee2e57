// Go templates cut into what stands as it is and what is to be done, and the latter into words.

import { Failure } from '../../failure.js'
import { Float } from '../go-text.js'

/** A word of an action. */
export interface Token {
  readonly kind: 'field' | 'variable' | 'word' | 'value' | 'sign'
  /** Of fields without the dot; `.` alone has none. */
  readonly text: string
  readonly value?: unknown
  /** Whether it is set apart from the word before it. */
  readonly isApart: boolean
}

export type Piece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly tokens: readonly Token[]; readonly source: string; readonly line: number }

export const templateFailure = (line: number, message: string): Failure => new Failure(`template: output:${line}: ${message}`)

export function cutTemplate(template: string): readonly Piece[] {
  const pieces: Piece[] = []
  let line = 1
  let trimsNext = false
  for (let at = 0; at < template.length; ) {
    const open = template.indexOf('{{', at)
    const end = open < 0 ? template.length : open
    let text = template.slice(at, end)
    if (trimsNext) text = text.trimStart()
    if (open >= 0 && /^\{\{-\s/.test(template.slice(open, open + 4))) text = text.trimEnd()
    if (text !== '') pieces.push({ kind: 'text', text })
    line += linesIn(template.slice(at, end))
    if (open < 0) break
    const { inner, next, trims } = actionAt(template, open, line)
    const source = inner.trim()
    if (!source.startsWith('/*')) pieces.push({ kind: 'action', tokens: tokensOf(source, line), source, line })
    line += linesIn(template.slice(open, next))
    trimsNext = trims
    at = next
  }
  return pieces
}

const linesIn = (text: string): number => text.split('\n').length - 1

interface Found {
  readonly inner: string
  readonly next: number
  readonly trims: boolean
}

function actionAt(template: string, open: number, line: number): Found {
  const start = open + (/^\{\{-\s/.test(template.slice(open, open + 4)) ? 3 : 2)
  let at = start
  const comment = /\s*\/\*/y
  comment.lastIndex = start
  if (comment.test(template)) {
    const end = template.indexOf('*/', comment.lastIndex)
    if (end < 0) throw templateFailure(line, 'unclosed comment')
    at = end + 2
  }
  for (; at < template.length; at++) {
    const letter = template[at] as string
    if (letter === '"' || letter === "'" || letter === '`') at = endOfQuote(template, at, line)
    else if (template.startsWith('}}', at)) {
      const trims = /\s-$/.test(template.slice(Math.max(start, at - 2), at))
      return { inner: template.slice(start, trims ? at - 1 : at), next: at + 2, trims }
    }
  }
  throw templateFailure(line, 'unclosed action')
}

/** The place of the quote that ends it. */
function endOfQuote(text: string, open: number, line: number): number {
  const quote = text[open] as string
  for (let at = open + 1; at < text.length; at++) {
    if (text[at] === '\\' && quote !== '`') at++
    else if (text[at] === quote) return at
    else if (text[at] === '\n' && quote !== '`') break
  }
  throw templateFailure(
    line,
    quote === '"' ? 'unterminated quoted string' : `unterminated ${quote === '`' ? 'raw quoted string' : 'character constant'}`,
  )
}

const words =
  /\s*(?:(\.[\p{L}_][\p{L}\p{N}_]*)|(\.)(?!\d)|(\$[\p{L}\p{N}_]*)|([\p{L}_][\p{L}\p{N}_]*)|([+-]?(?:0[xX][\da-fA-F_]+|0[oO]?[0-7_]+(?![\d.eE])|0[bB][01_]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?))|(:=|[=|(),]))/uy

function tokensOf(source: string, line: number): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < source.length; ) {
    const gap = /\s*/y
    gap.lastIndex = at
    gap.test(source)
    const begin = gap.lastIndex
    const isApart = begin > at || at === 0
    const letter = source[begin] as string
    if (letter === '"' || letter === "'" || letter === '`') {
      const end = endOfQuote(source, begin, line)
      const text = source.slice(begin + 1, end)
      const value = letter === '`' ? text : unquote(text)
      tokens.push({ kind: 'value', text, value: letter === "'" ? value.codePointAt(0) : value, isApart })
      at = end + 1
      continue
    }
    words.lastIndex = begin
    const found = words.exec(source)
    if (found === null) throw templateFailure(line, `unexpected ${JSON.stringify(letter)} in {{${source}}}`)
    const [, field, dot, variable, word, number, sign] = found
    if (field !== undefined || dot !== undefined) tokens.push({ kind: 'field', text: field?.slice(1) ?? '', isApart })
    else if (variable !== undefined) tokens.push({ kind: 'variable', text: variable, isApart })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, isApart })
    else if (number !== undefined) tokens.push({ kind: 'value', text: number, value: numberOf(number), isApart })
    else tokens.push({ kind: 'sign', text: sign as string, isApart })
    at = words.lastIndex
  }
  return tokens
}

function numberOf(text: string): number | Float {
  const plain = text.replaceAll('_', '')
  const sign = plain.startsWith('-') ? -1 : 1
  const digits = plain.replace(/^[+-]/, '')
  if (/^0[xXbB]/.test(digits)) return sign * Number(digits)
  if (/^0[oO]?\d+$/.test(digits)) return sign * Number.parseInt(digits.replace(/^0[oO]?/, ''), 8)
  return /[.eE]/.test(digits) ? new Float(sign * Number(digits)) : sign * Number(digits)
}

const escapes: { readonly [letter: string]: string } = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

const unquote = (text: string): string =>
  text.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.))/gs,
    (_, hex, short, long, octal, letter: string) => {
      const code = hex ?? short ?? long
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code as string, 16))
      return octal === undefined ? (escapes[letter] ?? letter) : String.fromCodePoint(Number.parseInt(octal as string, 8))
    },
  )
