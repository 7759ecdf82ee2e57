// CEL string and regular expression functions. Indexes count code points.

import type { RE2JS } from 're2js'
import { compileRegex } from '../regex/regex.js'
import { CelError, type CelList, countChars, maxChars, noMethod, noSuchOverload, tooLong, type Value, ValueList } from '../values/values.js'
import { indexOfText, lastIndexOfText, splitText } from './text-search.js'

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`)

/** Avoids an array for texts without surrogate pairs. */
const charsOf = (text: string): string | string[] => (countChars(text) === text.length ? text : Array.from(text))
const slice = (chars: string | string[], from: number, to?: number): string =>
  typeof chars === 'string' ? chars.slice(from, to) : chars.slice(from, to).join('')

export function charAt(text: string, index: bigint): Value {
  const chars = charsOf(text)
  if (index < 0n || index > BigInt(chars.length)) return outOfRange(index)
  return chars[Number(index)] ?? ''
}

export function substring(text: string, start: bigint, end?: bigint): Value {
  const chars = charsOf(text)
  const length = BigInt(chars.length)
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end)
  return slice(chars, Number(start), end === undefined ? undefined : Number(end))
}

const isIndex = (index: bigint, length: number): boolean => index >= 0n && index < BigInt(length)

export function indexOf(text: string, search: string, from = 0n): Value {
  if (search === '') return from
  if (!isIndex(from, countChars(text))) return outOfRange(from)
  const at = indexOfText(text, search, slice(charsOf(text), 0, Number(from)).length)
  return at === -1 ? -1n : BigInt(countChars(text.slice(0, at)))
}

export function lastIndexOf(text: string, search: string, from?: bigint): Value {
  const length = countChars(text)
  if (search === '') return from ?? BigInt(length)
  const start = from ?? BigInt(length - 1)
  if (!isIndex(start, length)) return outOfRange(start)
  const at = lastIndexOfText(text, search, slice(charsOf(text), 0, Number(start)).length)
  return at === -1 ? -1n : BigInt(countChars(text.slice(0, at)))
}

export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())
export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase())

const isSpace = (char: string): boolean => /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/.test(char)

export function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start] as string)) start++
  while (end > start && isSpace(text[end - 1] as string)) end--
  return text.slice(start, end)
}

function countOccurrences(text: string, search: string): number {
  let count = 0
  for (let at = indexOfText(text, search); at !== -1; at = indexOfText(text, search, at + search.length)) count++
  return count
}

export function replace(text: string, old: string, replacement: string, limit = -1n): Value {
  if (limit === 0n) return text
  const found = old === '' ? text.length + 1 : countOccurrences(text, old)
  if (text.length + found * replacement.length > maxChars) return tooLong
  const maxCount = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)
  if (old === '') return insertBetweenChars(text, replacement, maxCount)
  if (found <= maxCount) return splitText(text, old).join(replacement)
  let out = ''
  let at = 0
  for (let count = 0; count < maxCount; count++) {
    const next = indexOfText(text, old, at)
    if (next === -1) break
    out += text.slice(at, next) + replacement
    at = next + old.length
  }
  return out + text.slice(at)
}

function insertBetweenChars(text: string, replacement: string, maxCount: number): string {
  let out = ''
  let count = 0
  for (const char of text) {
    if (count++ < maxCount) out += replacement
    out += char
  }
  return count < maxCount ? out + replacement : out
}

export function split(text: string, separator: string, limit = -1n): Value {
  if (limit === 0n) return new ValueList([])
  if (limit === 1n) return new ValueList([text])
  const parts = separator === '' ? Array.from(text) : splitText(text, separator)
  if (limit < 0n || BigInt(parts.length) <= limit) return new ValueList(parts)
  const kept = parts.slice(0, Number(limit) - 1)
  return new ValueList([...kept, parts.slice(Number(limit) - 1).join(separator)])
}

export function join(list: CelList, separator = ''): Value {
  const parts: string[] = []
  let chars = 0
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i)
    if (item instanceof CelError) return item
    if (typeof item !== 'string') return noSuchOverload
    parts.push(item)
    chars += item.length + separator.length
    if (chars > maxChars) return tooLong
  }
  return parts.join(separator)
}

export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string') return noMethod(text, 'matches')
  return matchesConstant(text, pattern)
}

/** For constant patterns: a receiver that is no string has another error than in {@link matches}. */
export function matchesConstant(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload
  const compiled = compileRegex(pattern)
  // `test` is twenty times faster than a matcher.
  return compiled instanceof Error ? new CelError(compiled.message) : compiled.test(text)
}

const illegalRegex = ({ message }: Error): CelError => new CelError(`Illegal regex: ${message}`)

/** Limit of instructions times characters: a search may visit every instruction for each character. */
const maxRegexWork = 20_000_000
const regexTooLarge = new CelError('the regular expression is too large for the text')
const isRegexTooLarge = (compiled: RE2JS, text: string): boolean => compiled.programSize() * text.length > maxRegexWork

export function find(text: string, pattern: string): Value {
  const compiled = compileRegex(pattern)
  if (compiled instanceof Error) return illegalRegex(compiled)
  if (isRegexTooLarge(compiled, text)) return regexTooLarge
  const matcher = compiled.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

export function findAll(text: string, pattern: string, limit = -1n): Value {
  const compiled = compileRegex(pattern)
  if (compiled instanceof Error) return illegalRegex(compiled)
  if (isRegexTooLarge(compiled, text)) return regexTooLarge
  const found: string[] = []
  const matcher = compiled.matcher(text)
  let lastEnd = -1
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) {
    // An empty match right after a match is skipped, as in Go.
    if (matcher.end() > matcher.start() || matcher.start() !== lastEnd) found.push(matcher.group() ?? '')
    lastEnd = matcher.end()
  }
  return new ValueList(found)
}
