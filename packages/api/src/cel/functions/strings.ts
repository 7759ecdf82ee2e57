// Functions of strings, and regular expressions in linear time. Places in a text are counted in letters, not in bytes.

import type { RE2JS } from 're2js'
import { patternOf } from '../pattern.js'
import { indexOfText, lastIndexOfText, splitText } from '../text-search.js'
import { CelError, type CelList, countLetters, mostLetters, noSuchOverload, tooLong, type Value, ValueList } from '../values.js'

const outOfRange = (index: bigint): CelError => new CelError(`index out of range: ${index}`)

/** Texts without surrogate pairs need no array of letters. */
const lettersOf = (text: string): string | string[] => (countLetters(text) === text.length ? text : Array.from(text))
const slice = (letters: string | string[], from: number, to?: number): string =>
  typeof letters === 'string' ? letters.slice(from, to) : letters.slice(from, to).join('')

export function charAt(text: string, index: bigint): Value {
  const letters = lettersOf(text)
  if (index < 0n || index > BigInt(letters.length)) return outOfRange(index)
  return letters[Number(index)] ?? ''
}

export function substring(text: string, start: bigint, end?: bigint): Value {
  const letters = lettersOf(text)
  const length = BigInt(letters.length)
  if (end !== undefined && start > end) return new CelError(`invalid substring range. start: ${start}, end: ${end}`)
  if (start < 0n || start > length) return outOfRange(start)
  if (end !== undefined && (end < 0n || end > length)) return outOfRange(end)
  return slice(letters, Number(start), end === undefined ? undefined : Number(end))
}

const isPlace = (index: bigint, length: number): boolean => index >= 0n && index < BigInt(length)

export function indexOf(text: string, part: string, from = 0n): Value {
  if (part === '') return from
  if (!isPlace(from, countLetters(text))) return outOfRange(from)
  const at = indexOfText(text, part, slice(lettersOf(text), 0, Number(from)).length)
  return at === -1 ? -1n : BigInt(countLetters(text.slice(0, at)))
}

export function lastIndexOf(text: string, part: string, from?: bigint): Value {
  const length = countLetters(text)
  if (part === '') return from ?? BigInt(length)
  const start = from ?? BigInt(length - 1)
  if (!isPlace(start, length)) return outOfRange(start)
  const at = lastIndexOfText(text, part, slice(lettersOf(text), 0, Number(start)).length)
  return at === -1 ? -1n : BigInt(countLetters(text.slice(0, at)))
}

export const lowerAscii = (text: string): string => text.replace(/[A-Z]+/g, (part) => part.toLowerCase())
export const upperAscii = (text: string): string => text.replace(/[a-z]+/g, (part) => part.toUpperCase())

/** White space as Unicode defines it. */
const isSpace = (letter: string): boolean => /^[\t-\r \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]$/.test(letter)

export function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start] as string)) start++
  while (end > start && isSpace(text[end - 1] as string)) end--
  return text.slice(start, end)
}

function countParts(text: string, part: string): number {
  let count = 0
  for (let at = indexOfText(text, part); at !== -1; at = indexOfText(text, part, at + part.length)) count++
  return count
}

export function replace(text: string, old: string, fresh: string, limit = -1n): Value {
  if (limit === 0n) return text
  const found = old === '' ? text.length + 1 : countParts(text, old)
  if (text.length + found * fresh.length > mostLetters) return tooLong
  const most = limit < 0n ? Number.POSITIVE_INFINITY : Number(limit)
  if (old === '') return replaceNothing(text, fresh, most)
  if (found <= most) return splitText(text, old).join(fresh)
  let out = ''
  let at = 0
  for (let count = 0; count < most; count++) {
    const next = indexOfText(text, old, at)
    if (next === -1) break
    out += text.slice(at, next) + fresh
    at = next + old.length
  }
  return out + text.slice(at)
}

/** The empty text stands before each letter and at the end. */
function replaceNothing(text: string, fresh: string, most: number): string {
  let out = ''
  let count = 0
  for (const letter of text) {
    if (count++ < most) out += fresh
    out += letter
  }
  return count < most ? out + fresh : out
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
  let letters = 0
  for (let i = 0; i < list.size; i++) {
    const item = list.at(i)
    if (item instanceof CelError) return item
    if (typeof item !== 'string') return noSuchOverload
    parts.push(item)
    letters += item.length + separator.length
    if (letters > mostLetters) return tooLong
  }
  return parts.join(separator)
}

export function matches(text: Value, pattern: Value): Value {
  if (typeof text !== 'string' || typeof pattern !== 'string') return noSuchOverload
  const compiled = patternOf(pattern)
  // Whether there is a match is known twenty times as fast as where it is.
  return compiled instanceof Error ? new CelError(compiled.message) : compiled.test(text)
}

const illegal = ({ message }: Error): CelError => new CelError(`Illegal regex: ${message}`)

/** Where a match is takes a walk of the whole pattern for each letter: a short pattern can be a large machine. */
const mostWork = 20_000_000
const tooMuch = new CelError('the regular expression is too large for the text')
const isTooMuch = (compiled: RE2JS, text: string): boolean => compiled.programSize() * text.length > mostWork

export function find(text: string, pattern: string): Value {
  const compiled = patternOf(pattern)
  if (compiled instanceof Error) return illegal(compiled)
  if (isTooMuch(compiled, text)) return tooMuch
  const matcher = compiled.matcher(text)
  return matcher.find() ? (matcher.group() ?? '') : ''
}

export function findAll(text: string, pattern: string, limit = -1n): Value {
  const compiled = patternOf(pattern)
  if (compiled instanceof Error) return illegal(compiled)
  if (isTooMuch(compiled, text)) return tooMuch
  const found: string[] = []
  const matcher = compiled.matcher(text)
  let lastEnd = -1
  while ((limit < 0n || BigInt(found.length) < limit) && matcher.find()) {
    // Nothing, right behind a match, is none.
    if (matcher.end() > matcher.start() || matcher.start() !== lastEnd) found.push(matcher.group() ?? '')
    lastEnd = matcher.end()
  }
  return new ValueList(found)
}
