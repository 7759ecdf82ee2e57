// Lexer of Go templates: text and actions, and the tokens of actions.

import { CommandError } from '../../command-line/errors.js'
import { Float } from '../go-text.js'

export interface Token {
  readonly kind: 'field' | 'variable' | 'word' | 'value' | 'sign'
  readonly text: string
  readonly value?: unknown
  readonly hasSpaceBefore: boolean
}

export type Chunk =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly tokens: readonly Token[]; readonly source: string; readonly line: number }

export const templateFailure = (line: number, message: string): CommandError => new CommandError(`template: output:${line}: ${message}`)

export function cutTemplate(template: string): readonly Chunk[] {
  const chunks: Chunk[] = []
  let line = 1
  let trimsNext = false
  for (let position = 0; position < template.length; ) {
    const open = template.indexOf('{{', position)
    const end = open < 0 ? template.length : open
    let text = template.slice(position, end)
    if (trimsNext) text = text.trimStart()
    if (open >= 0 && /^\{\{-\s/.test(template.slice(open, open + 4))) text = text.trimEnd()
    if (text !== '') chunks.push({ kind: 'text', text })
    line += linesIn(template.slice(position, end))
    if (open < 0) break
    const { inner, next, trims } = actionAt(template, open, line)
    const source = inner.trim()
    if (!source.startsWith('/*')) chunks.push({ kind: 'action', tokens: tokensOf(source, line), source, line })
    line += linesIn(template.slice(open, next))
    trimsNext = trims
    position = next
  }
  return chunks
}

const linesIn = (text: string): number => text.split('\n').length - 1

interface FoundAction {
  readonly inner: string
  readonly next: number
  readonly trims: boolean
}

function actionAt(template: string, open: number, line: number): FoundAction {
  const start = open + (/^\{\{-\s/.test(template.slice(open, open + 4)) ? 3 : 2)
  let position = start
  const comment = /\s*\/\*/y
  comment.lastIndex = start
  if (comment.test(template)) {
    const end = template.indexOf('*/', comment.lastIndex)
    if (end < 0) throw templateFailure(line, 'unclosed comment')
    position = end + 2
  }
  for (; position < template.length; position++) {
    const char = template[position] as string
    if (char === '"' || char === "'" || char === '`') position = endOfQuote(template, position, line)
    else if (template.startsWith('}}', position)) {
      const trims = /\s-$/.test(template.slice(Math.max(start, position - 2), position))
      return { inner: template.slice(start, trims ? position - 1 : position), next: position + 2, trims }
    }
  }
  throw templateFailure(line, 'unclosed action')
}

function endOfQuote(text: string, open: number, line: number): number {
  const quote = text[open] as string
  for (let position = open + 1; position < text.length; position++) {
    if (text[position] === '\\' && quote !== '`') position++
    else if (text[position] === quote) return position
    else if (text[position] === '\n' && quote !== '`') break
  }
  throw templateFailure(
    line,
    quote === '"' ? 'unterminated quoted string' : `unterminated ${quote === '`' ? 'raw quoted string' : 'character constant'}`,
  )
}

const tokenPattern =
  /\s*(?:(\.[\p{L}_][\p{L}\p{N}_]*)|(\.)(?!\d)|(\$[\p{L}\p{N}_]*)|([\p{L}_][\p{L}\p{N}_]*)|([+-]?(?:0[xX][\da-fA-F_]+|0[oO]?[0-7_]+(?![\d.eE])|0[bB][01_]+|\d[\d_]*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?))|(:=|[=|(),]))/uy

function tokensOf(source: string, line: number): readonly Token[] {
  const tokens: Token[] = []
  for (let position = 0; position < source.length; ) {
    const gap = /\s*/y
    gap.lastIndex = position
    gap.test(source)
    const begin = gap.lastIndex
    const hasSpaceBefore = begin > position || position === 0
    const char = source[begin] as string
    if (char === '"' || char === "'" || char === '`') {
      const end = endOfQuote(source, begin, line)
      const text = source.slice(begin + 1, end)
      const value = char === '`' ? text : unquote(text)
      tokens.push({ kind: 'value', text, value: char === "'" ? value.codePointAt(0) : value, hasSpaceBefore })
      position = end + 1
      continue
    }
    tokenPattern.lastIndex = begin
    const found = tokenPattern.exec(source)
    if (found === null) throw templateFailure(line, `unexpected ${JSON.stringify(char)} in {{${source}}}`)
    const [, field, dot, variable, word, number, sign] = found
    if (field !== undefined || dot !== undefined) tokens.push({ kind: 'field', text: field?.slice(1) ?? '', hasSpaceBefore })
    else if (variable !== undefined) tokens.push({ kind: 'variable', text: variable, hasSpaceBefore })
    else if (word !== undefined) tokens.push({ kind: 'word', text: word, hasSpaceBefore })
    else if (number !== undefined) tokens.push({ kind: 'value', text: number, value: numberOf(number), hasSpaceBefore })
    else tokens.push({ kind: 'sign', text: sign as string, hasSpaceBefore })
    position = tokenPattern.lastIndex
  }
  return tokens
}

function numberOf(text: string): number | Float {
  const withoutUnderscores = text.replaceAll('_', '')
  const sign = withoutUnderscores.startsWith('-') ? -1 : 1
  const digits = withoutUnderscores.replace(/^[+-]/, '')
  if (/^0[xXbB]/.test(digits)) return sign * Number(digits)
  if (/^0[oO]?\d+$/.test(digits)) return sign * Number.parseInt(digits.replace(/^0[oO]?/, ''), 8)
  return /[.eE]/.test(digits) ? new Float(sign * Number(digits)) : sign * Number(digits)
}

const escapes: { readonly [char: string]: string } = { n: '\n', t: '\t', r: '\r', a: '\x07', b: '\b', f: '\f', v: '\v' }

const unquote = (text: string): string =>
  text.replaceAll(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{3})|(.))/gs,
    (_, hex, short, long, octal, char: string) => {
      const code = hex ?? short ?? long
      if (code !== undefined) return String.fromCodePoint(Number.parseInt(code as string, 16))
      return octal === undefined ? (escapes[char] ?? char) : String.fromCodePoint(Number.parseInt(octal as string, 8))
    },
  )
