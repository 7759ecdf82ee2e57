// Label selector parser: `a`, `!a`, `a=b`, `a!=b`, `a in (b,c)`, `a>1`, joined by commas. Error messages are part of the API.

import { listSome, shorten } from '../../base/shorten.js'
import { sortTexts } from '../../base/text-order.js'
import { badRequest } from '../api-error.js'
import { type FieldError, invalid, maxErrors } from '../field-error.js'
import { parseInt64 } from '../integer.js'
import { labelValue, qualifiedName } from '../validation/name-formats.js'

export type Operator = '=' | '==' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt'

export interface Requirement {
  readonly key: string
  readonly operator: Operator
  /** Sorted; unique if parsed from a query. Empty for `exists` and `!`. */
  readonly values: readonly string[]
}

/** `word` is a key, a value, `in` or `notin`. */
type TokenKind = 'word' | 'end' | '(' | ')' | ',' | '!' | '=' | '==' | '!=' | '>' | '<'

interface Token {
  readonly kind: TokenKind
  readonly text: string
}

const binaryOperators: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['in', 'in'],
  ['notin', 'notin'],
  ['=', '='],
  ['==', '=='],
  ['!=', '!='],
  ['>', 'gt'],
  ['<', 'lt'],
])
const expectedOperators = 'in, notin, =, ==, !=, gt, lt'

const symbols = new Set([...'=!(),<>'].map((symbol) => symbol.charCodeAt(0)))
const equalsSign = '='.charCodeAt(0)
const isSpace = (code: number): boolean => code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = []
  for (let at = 0; at < text.length; ) {
    const code = text.charCodeAt(at)
    if (isSpace(code)) at++
    else if (symbols.has(code)) {
      const isDouble = (code === equalsSign || text[at] === '!') && text.charCodeAt(at + 1) === equalsSign
      const symbol = text.slice(at, at + (isDouble ? 2 : 1))
      tokens.push({ kind: symbol as TokenKind, text: symbol })
      at += symbol.length
    } else {
      const begin = at
      for (let next = code; at < text.length && !isSpace(next) && !symbols.has(next); next = text.charCodeAt(at)) at++
      tokens.push({ kind: 'word', text: text.slice(begin, at) })
    }
  }
  return tokens
}

interface Cursor {
  readonly tokens: readonly Token[]
  position: number
}

const end: Token = { kind: 'end', text: '' }
const peek = (cursor: Cursor): Token => cursor.tokens[cursor.position] ?? end
function take(cursor: Cursor): Token {
  const token = peek(cursor)
  cursor.position++
  return token
}

const startsRequirement = (token: Token): boolean => token.kind === 'word' || token.kind === '!'

export function parseLabelSelector(text: string): readonly Requirement[] {
  const cursor: Cursor = { tokens: tokensOf(text), position: 0 }
  const requirements: Requirement[] = []
  const first = peek(cursor)
  if (first.kind === 'end') return requirements
  if (!startsRequirement(first)) throw badRequest(`found '${shorten(first.text)}', expected: !, identifier, or 'end of string'`)
  for (;;) {
    requirements.push(parseRequirement(cursor))
    const after = take(cursor)
    if (after.kind === 'end') return requirements
    if (after.kind !== ',') throw badRequest(`found '${shorten(after.text)}', expected: ',' or 'end of string'`)
    const next = peek(cursor)
    if (!startsRequirement(next)) throw badRequest(`found '${shorten(next.text)}', expected: identifier after ','`)
  }
}

const unparsable = (detail: string): Error => badRequest(`unable to parse requirement: ${detail}`)
const unexpected = (token: Token, expected: string): Error => unparsable(`found '${shorten(token.text)}', expected: ${expected}`)

function parseRequirement(cursor: Cursor): Requirement {
  const negated = peek(cursor).kind === '!'
  if (negated) take(cursor)
  const word = take(cursor)
  if (word.kind !== 'word') throw unexpected(word, 'identifier')
  const key = word.text
  const problems = qualifiedName(key)
  if (problems.length > 0) throw unparsable(formatError(invalid('key', key, problems.join('; '))))
  if (negated) return { key, operator: '!', values: [] }
  const next = peek(cursor)
  if (next.kind === 'end' || next.kind === ',') return { key, operator: 'exists', values: [] }
  const operator = binaryOperators.get(take(cursor).text)
  if (operator === undefined) throw unexpected(next, expectedOperators)
  const values = operator === 'in' || operator === 'notin' ? parseValues(cursor) : [parseValue(cursor)]
  return validateValues({ key, operator, values: sortTexts([...new Set(values)]) })
}

function parseValue(cursor: Cursor): string {
  const next = peek(cursor)
  if (next.kind === 'end' || next.kind === ',') return ''
  const token = take(cursor)
  if (token.kind !== 'word') throw unexpected(token, 'identifier')
  return token.text
}

/** `()` and `(a,)` contain the empty value; `(a,,)` is rejected. */
function parseValues(cursor: Cursor): readonly string[] {
  const open = take(cursor)
  if (open.kind !== '(') throw unparsable(`found '${shorten(open.text)}' expected: '('`)
  const first = peek(cursor)
  if (first.kind === ')') {
    take(cursor)
    return ['']
  }
  if (first.kind !== 'word' && first.kind !== ',') throw unexpected(first, "',', ')' or identifier")
  const values = parseListedValues(cursor)
  take(cursor)
  return values
}

function parseListedValues(cursor: Cursor): readonly string[] {
  const values: string[] = []
  for (;;) {
    const token = take(cursor)
    const next = peek(cursor)
    if (token.kind === 'word') {
      values.push(token.text)
      if (next.kind === ')') return values
      if (next.kind !== ',') throw unexpected(next, "',' or ')'")
    } else if (token.kind === ',') {
      if (values.length === 0 || next.kind === ')' || next.kind === ',') values.push('')
      if (next.kind === ')') return values
      if (next.kind === ',') take(cursor)
    } else {
      throw unexpected(token, "',', or identifier")
    }
  }
}

function validateValues(requirement: Requirement): Requirement {
  const { key, operator, values } = requirement
  const texts: string[] = []
  let count = 0
  const addError = (field: string, value: string, problem: string): void => {
    if (++count <= maxErrors) texts.push(formatError(invalid(field, value, problem)))
  }
  if (operator === 'gt' || operator === 'lt') {
    for (const [index, value] of values.entries()) {
      if (parseInt64(value) === undefined) addError(`values[${index}]`, value, "for 'Gt', 'Lt' operators, the value must be an integer")
    }
  }
  for (const [index, value] of values.entries()) {
    const problems = labelValue(value)
    if (problems.length > 0) addError(`values[${index}][${key}]`, value, problems.join('; '))
  }
  if (count === 0) return requirement
  throw unparsable(count === 1 ? (texts[0] ?? '') : `[${listSome(texts, count - texts.length)}]`)
}

const formatError = (error: FieldError): string => `${error.field}: ${error.message}`
