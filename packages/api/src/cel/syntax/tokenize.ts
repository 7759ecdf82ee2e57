// CEL lexer: the longest match wins; unrecognized characters are reported and skipped.

import type { Issue } from './syntax-issues.js'

const tokenTypes = [
  '==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':', '+', '*', '/', '%',
  'true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', '<EOF>',
] as const // biome-ignore format: in the order of error messages

export type TokenType = (typeof tokenTypes)[number]

export interface Token {
  readonly type: TokenType
  readonly text: string
  readonly at: number
}

const rankOf = new Map<TokenType, number>(tokenTypes.map((name, rank) => [name, rank]))
const unquotedTypes: ReadonlySet<string> = new Set(['NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', '<EOF>'])

export function describeTokens(types: ReadonlySet<TokenType>): string {
  const sorted = [...types].sort((a, b) => (rankOf.get(a) as number) - (rankOf.get(b) as number))
  const described = sorted.map((type) => (unquotedTypes.has(type) ? type : `'${type}'`))
  return described.length === 1 ? (described[0] as string) : `{${described.join(', ')}}`
}

const keywords: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null'])
const twoChars: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '&&', '||'])
const oneChar: ReadonlySet<string> = new Set('<>[]{}().,-!?:+*/%')

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isHex = (code: number): boolean => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102)
const isNameStart = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 12 || code === 13

export function tokenize(text: string, report: (issue: Issue) => void): Token[] {
  const tokens: Token[] = []
  const unterminated: Unterminated = { '"""': new Set(), "'''": new Set() }
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) {
      at++
    } else if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else {
      const found = match(text, at, unterminated)
      if (typeof found === 'number') {
        const end = Math.min(found + charLength(text, found), text.length)
        report({ at, message: `Syntax error: token recognition error at: '${text.slice(at, end)}'` })
        at = end
      } else {
        tokens.push(found)
        at += found.text.length
      }
    }
  }
  tokens.push({ type: '<EOF>', text: '<EOF>', at: text.length })
  return tokens
}

const charLength = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

/** Returns the longest token, or the offset of the first character that fits no token. */
function match(text: string, at: number, unterminated: Unterminated): Token | number {
  const code = text.charCodeAt(at)
  const string = matchString(text, at, unterminated)
  if (typeof string === 'object') return string
  if (isNameStart(code)) {
    let end = at + 1
    while (end < text.length && (isNameStart(text.charCodeAt(end)) || isDigit(text.charCodeAt(end)))) end++
    const name = text.slice(at, end)
    return { type: keywords.has(name) ? (name as TokenType) : 'IDENTIFIER', text: name, at }
  }
  if (isDigit(code) || (code === 46 && isDigit(text.charCodeAt(at + 1)))) return matchNumber(text, at)
  const twoCharText = text.slice(at, at + 2)
  if (twoChars.has(twoCharText)) return { type: twoCharText as TokenType, text: twoCharText, at }
  const oneCharText = twoCharText.slice(0, 1)
  if (oneChar.has(oneCharText)) return { type: oneCharText as TokenType, text: oneCharText, at }
  if (string !== undefined) return string
  return oneCharText === '=' || oneCharText === '&' || oneCharText === '|' ? at + 1 : at
}

function matchNumber(text: string, at: number): Token {
  const token = (type: TokenType, end: number): Token => ({ type, text: text.slice(at, end), at })
  const digitsEnd = (from: number, is: (code: number) => boolean): number => {
    let end = from
    while (end < text.length && is(text.charCodeAt(end))) end++
    return end
  }
  const unsigned = (end: number): Token => (text[end] === 'u' || text[end] === 'U' ? token('NUM_UINT', end + 1) : token('NUM_INT', end))
  if (text.startsWith('0x', at) && isHex(text.charCodeAt(at + 2))) return unsigned(digitsEnd(at + 2, isHex))
  const wholeEnd = digitsEnd(at, isDigit)
  let end = wholeEnd
  if (text[wholeEnd] === '.' && isDigit(text.charCodeAt(wholeEnd + 1))) end = digitsEnd(wholeEnd + 1, isDigit)
  if (text[end] === 'e' || text[end] === 'E') {
    const sign = text[end + 1] === '+' || text[end + 1] === '-' ? 1 : 0
    const exponent = digitsEnd(end + 1 + sign, isDigit)
    if (exponent > end + 1 + sign) end = exponent
  }
  return end > wholeEnd ? token('NUM_FLOAT', end) : unsigned(wholeEnd)
}

/** Returns a token, the offset of an error, or undefined if no string begins here. */
function matchString(text: string, at: number, unterminated: Unterminated): Token | number | undefined {
  let quoteAt = at
  let isBytes = false
  let isRaw = false
  if (text[quoteAt] === 'b' || text[quoteAt] === 'B') {
    isBytes = true
    quoteAt++
  }
  if (text[quoteAt] === 'r' || text[quoteAt] === 'R') {
    isRaw = true
    quoteAt++
  }
  const quote = text[quoteAt]
  if (quote !== '"' && quote !== "'") return undefined
  const token = (end: number): Token => ({ type: isBytes ? 'BYTES' : 'STRING', text: text.slice(at, end), at })
  const triple = quote === '"' ? '"""' : "'''"
  if (text.startsWith(triple, quoteAt)) {
    const end = scanString(text, quoteAt + 3, triple, isRaw, isRaw ? new Set() : unterminated[triple])
    if (end.isComplete) return token(end.at)
  }
  const end = scanString(text, quoteAt + 1, quote, isRaw)
  return end.isComplete ? token(end.at) : end.at
}

/** Offsets from which a triple-quoted string does not end. Remembered, so that the scan takes linear time. */
type Unterminated = { readonly [quote in '"""' | "'''"]: Set<number> }

/** With `unterminated` the string may span lines, and offsets without an end are added to it. */
function scanString(
  text: string,
  from: number,
  quote: string,
  isRaw: boolean,
  unterminated?: Set<number>,
): { isComplete: boolean; at: number } {
  const scanned: number[] = []
  const incomplete = (at: number): { isComplete: boolean; at: number } => {
    for (const offset of scanned) unterminated?.add(offset)
    return { isComplete: false, at }
  }
  let at = from
  while (at < text.length) {
    if (text.startsWith(quote, at)) return { isComplete: true, at: at + quote.length }
    if (unterminated?.has(at)) return incomplete(at)
    if (unterminated !== undefined) scanned.push(at)
    const char = text[at] as string
    if (unterminated === undefined && (char === '\n' || char === '\r')) return incomplete(at)
    if (char === '\\' && !isRaw) {
      const end = scanEscape(text, at + 1)
      if (end < 0) return incomplete(-end)
      at = end
    } else {
      at++
    }
  }
  return incomplete(at)
}

/** Returns the offset after the escape, or the negated offset of an error. */
function scanEscape(text: string, at: number): number {
  const char = text[at]
  if (char === undefined) return -at
  if ('abfnrtv"\'\\?`'.includes(char)) return at + 1
  const count = char === 'x' || char === 'X' ? 2 : char === 'u' ? 4 : char === 'U' ? 8 : 0
  for (let i = 1; i <= count; i++) if (!isHex(text.charCodeAt(at + i))) return -(at + i)
  if (count > 0) return at + 1 + count
  if (char < '0' || char > '3') return -at
  for (let i = 1; i <= 2; i++) {
    const digit = text[at + i]
    if (digit === undefined || digit < '0' || digit > '7') return -(at + i)
  }
  return at + 3
}
