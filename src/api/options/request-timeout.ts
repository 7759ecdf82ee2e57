// How long a client gives the server for one answer: `?timeout=`, a duration such as `1m30s`, on whatever is not a watch.

import { badRequest } from '../api-error.js'
import { quote } from '../field-error.js'
import { scanQuery } from './query.js'

/** In milliseconds; undefined: the client does not say, or leaves it to the server with a length of nothing or less. */
export function requestTimeout(query: string): number | undefined {
  if (!query.includes('timeout') && !query.includes('%')) return undefined
  const text = scanQuery(query).first('timeout') ?? ''
  if (text === '') return undefined
  const timeoutMs = durationMs(text)
  if (typeof timeoutMs === 'string') throw badRequest(`invalid timeout specified in the request URL - time: ${timeoutMs}`)
  return timeoutMs > 0 ? timeoutMs : undefined
}

const unitMs: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1e3],
  ['m', 60e3],
  ['h', 3600e3],
])
/** What 64 bits hold in nanoseconds. */
const longestMs = 2 ** 63 / 1e6

/** A number with a unit, as often as wanted; a text says what is wrong. It is read once from left to right. */
function durationMs(text: string): number | string {
  const invalid = `invalid duration ${quote(text)}`
  const isNegative = text[0] === '-'
  let at = isNegative || text[0] === '+' ? 1 : 0
  if (text.length - at === 1 && text[at] === '0') return 0
  if (at === text.length) return invalid
  let total = 0
  while (at < text.length) {
    const amount = readAmount(text, at)
    if (amount === undefined) return invalid
    at = amount.end
    let end = at
    while (end < text.length && !isAmount(text, end)) end++
    if (end === at) return `missing unit in duration ${quote(text)}`
    const unit = unitMs.get(text.slice(at, end))
    if (unit === undefined) return `unknown unit ${quote(text.slice(at, end))} in duration ${quote(text)}`
    total += amount.value * unit
    if (total >= longestMs) return invalid
    at = end
  }
  return isNegative ? -total : total
}

function readAmount(text: string, from: number): { readonly value: number; readonly end: number } | undefined {
  const point = endOfDigits(text, from)
  const end = text[point] === '.' ? endOfDigits(text, point + 1) : point
  const hasDigits = point > from || end > point + 1
  return hasDigits ? { value: Number(text.slice(from, end)), end } : undefined
}

function endOfDigits(text: string, from: number): number {
  let end = from
  while (isDigit(text, end)) end++
  return end
}

const isDigit = (text: string, at: number): boolean => text.charCodeAt(at) >= 0x30 && text.charCodeAt(at) <= 0x39
const isAmount = (text: string, at: number): boolean => text[at] === '.' || isDigit(text, at)
