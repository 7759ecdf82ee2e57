// From the text of an expression to tokens. The longest match wins; what is no token is reported and skipped.

import type { Issue } from './source.js'

/** In the order in which messages list them. */
const names = [
  '==', '!=', 'in', '<', '<=', '>=', '>', '&&', '||', '[', ']', '{', '}', '(', ')', '.', ',', '-', '!', '?', ':', '+', '*', '/', '%',
  'true', 'false', 'null', 'NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', '<EOF>',
] as const // biome-ignore format: one look shows the order

export type TokenType = (typeof names)[number]

export interface Token {
  readonly type: TokenType
  readonly text: string
  readonly at: number
}

const rankOf = new Map<TokenType, number>(names.map((name, rank) => [name, rank]))
const classes: ReadonlySet<string> = new Set(['NUM_FLOAT', 'NUM_INT', 'NUM_UINT', 'STRING', 'BYTES', 'IDENTIFIER', '<EOF>'])

/** A set of tokens as messages show it. */
export function describeTokens(types: ReadonlySet<TokenType>): string {
  const sorted = [...types].sort((a, b) => (rankOf.get(a) as number) - (rankOf.get(b) as number))
  const shown = sorted.map((type) => (classes.has(type) ? type : `'${type}'`))
  return shown.length === 1 ? (shown[0] as string) : `{${shown.join(', ')}}`
}

const keywords: ReadonlySet<string> = new Set(['in', 'true', 'false', 'null'])
const twoLetters: ReadonlySet<string> = new Set(['==', '!=', '<=', '>=', '&&', '||'])
const oneLetter: ReadonlySet<string> = new Set('<>[]{}().,-!?:+*/%')

const isDigit = (code: number): boolean => code >= 48 && code <= 57
const isHex = (code: number): boolean => isDigit(code) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102)
const startsName = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
const isSpace = (code: number): boolean => code === 32 || code === 9 || code === 10 || code === 12 || code === 13

export function tokenize(text: string, report: (issue: Issue) => void): Token[] {
  const tokens: Token[] = []
  const endless: Endless = { '"""': new Set(), "'''": new Set() }
  let at = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) {
      at++
    } else if (text.startsWith('//', at)) {
      const end = text.indexOf('\n', at)
      at = end === -1 ? text.length : end
    } else {
      const found = match(text, at, endless)
      if (typeof found === 'number') {
        // The letter that fits nothing belongs to what is reported, and is skipped, too.
        const end = Math.min(found + letterLength(text, found), text.length)
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

const letterLength = (text: string, at: number): number => ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)

/** The longest token that begins there, or where the first letter stands with which there can be none. */
function match(text: string, at: number, endless: Endless): Token | number {
  const code = text.charCodeAt(at)
  const string = matchString(text, at, endless)
  if (typeof string === 'object') return string
  if (startsName(code)) {
    let end = at + 1
    while (end < text.length && (startsName(text.charCodeAt(end)) || isDigit(text.charCodeAt(end)))) end++
    const name = text.slice(at, end)
    return { type: keywords.has(name) ? (name as TokenType) : 'IDENTIFIER', text: name, at }
  }
  if (isDigit(code) || (code === 46 && isDigit(text.charCodeAt(at + 1)))) return matchNumber(text, at)
  const two = text.slice(at, at + 2)
  if (twoLetters.has(two)) return { type: two as TokenType, text: two, at }
  const one = two.slice(0, 1)
  if (oneLetter.has(one)) return { type: one as TokenType, text: one, at }
  if (string !== undefined) return string
  return one === '=' || one === '&' || one === '|' ? at + 1 : at
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
  const whole = digitsEnd(at, isDigit)
  let end = whole
  if (text[whole] === '.' && isDigit(text.charCodeAt(whole + 1))) end = digitsEnd(whole + 1, isDigit)
  if (text[end] === 'e' || text[end] === 'E') {
    const sign = text[end + 1] === '+' || text[end + 1] === '-' ? 1 : 0
    const exponent = digitsEnd(end + 1 + sign, isDigit)
    if (exponent > end + 1 + sign) end = exponent
  }
  return end > whole ? token('NUM_FLOAT', end) : unsigned(whole)
}

/** A string, the place where one that began goes wrong, or undefined where none begins. */
function matchString(text: string, at: number, endless: Endless): Token | number | undefined {
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
    const end = scanString(text, quoteAt + 3, triple, isRaw, isRaw ? new Set() : endless[triple])
    if (end.isComplete) return token(end.at)
  }
  const end = scanString(text, quoteAt + 1, quote, isRaw)
  return end.isComplete ? token(end.at) : end.at
}

/** From where strings that span lines have no end: many can begin where one was followed in vain, and none of them is followed again. */
type Endless = { readonly [quote in '"""' | "'''"]: Set<number> }

/** A string that spans lines comes with the places from which there is no end. */
function scanString(text: string, from: number, quote: string, isRaw: boolean, endless?: Set<number>): { isComplete: boolean; at: number } {
  const seen: number[] = []
  const incomplete = (at: number): { isComplete: boolean; at: number } => {
    for (const place of seen) endless?.add(place)
    return { isComplete: false, at }
  }
  let at = from
  while (at < text.length) {
    if (text.startsWith(quote, at)) return { isComplete: true, at: at + quote.length }
    if (endless?.has(at)) return incomplete(at)
    if (endless !== undefined) seen.push(at)
    const letter = text[at] as string
    if (endless === undefined && (letter === '\n' || letter === '\r')) return incomplete(at)
    if (letter === '\\' && !isRaw) {
      const end = scanEscape(text, at + 1)
      if (end < 0) return incomplete(-end)
      at = end
    } else {
      at++
    }
  }
  return incomplete(at)
}

/** Where the escape ends, or the negative place of the letter that is wrong. */
function scanEscape(text: string, at: number): number {
  const letter = text[at]
  if (letter === undefined) return -at
  if ('abfnrtv"\'\\?`'.includes(letter)) return at + 1
  const count = letter === 'x' || letter === 'X' ? 2 : letter === 'u' ? 4 : letter === 'U' ? 8 : 0
  for (let i = 1; i <= count; i++) if (!isHex(text.charCodeAt(at + i))) return -(at + i)
  if (count > 0) return at + 1 + count
  if (letter < '0' || letter > '3') return -at
  for (let i = 1; i <= 2; i++) {
    const digit = text[at + i]
    if (digit === undefined || digit < '0' || digit > '7') return -(at + i)
  }
  return at + 3
}
