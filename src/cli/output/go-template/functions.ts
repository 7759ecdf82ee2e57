// The functions of Go templates: those that the language has, and the two that the original's command line adds.

import { compareText } from '../../../base/text-order.js'
import { Float, goText, goType } from '../go-text.js'
import { formatText } from './printf.js'

/** What went wrong in a function; whoever calls it says where. */
export class CallError extends Error {
  override readonly name = 'CallError'
}

type Call = (...values: readonly unknown[]) => unknown

export const isTrue = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === '' || value === 0) return false
  if (value instanceof Float) return value.value !== 0
  return typeof value !== 'object' || (Array.isArray(value) ? value : Object.keys(value)).length > 0
}

const bytesOf = (text: string): Buffer => Buffer.from(text, 'utf8')

function lengthOf(value: unknown): number {
  if (typeof value === 'string') return bytesOf(value).length
  if (Array.isArray(value)) return value.length
  if (value === undefined || value === null) throw new CallError('len of nil pointer')
  if (typeof value !== 'object' || value instanceof Float) throw new CallError(`len of type ${goType(value)}`)
  return Object.keys(value).length
}

function memberOf(value: unknown, key: unknown): unknown {
  if (value === undefined || value === null) throw new CallError('index of untyped nil')
  if (Array.isArray(value) || typeof value === 'string') {
    if (typeof key !== 'number') throw new CallError(`cannot index slice/array with type ${goType(key)}`)
    const items: ArrayLike<unknown> = typeof value === 'string' ? bytesOf(value) : value
    if (key < 0 || key >= items.length) throw new CallError(`index out of range: ${key}`)
    return items[key]
  }
  if (typeof value !== 'object' || value instanceof Float) throw new CallError(`can't index item of type ${goType(value)}`)
  if (typeof key !== 'string') throw new CallError(`value has type ${goType(key)}; should be string`)
  return Object.hasOwn(value, key) ? (value as { readonly [name: string]: unknown })[key] : undefined
}

function sliceOf(value: unknown, ...places: readonly unknown[]): unknown {
  if (typeof value !== 'string' && !Array.isArray(value)) throw new CallError(`can't slice item of type ${goType(value)}`)
  const length = lengthOf(value)
  const [start = 0, end = length] = places as readonly number[]
  if (!(start >= 0 && end <= length)) throw new CallError(`index out of range: ${start < 0 ? start : end}`)
  if (start > end) throw new CallError(`invalid slice index: ${start} > ${end}`)
  return typeof value === 'string' ? bytesOf(value).subarray(start, end).toString('utf8') : value.slice(start, end)
}

const plain = (value: unknown): unknown => (value instanceof Float ? value.value : value)

function isEqual(a: unknown, b: unknown): boolean {
  if (a === undefined || a === null || b === undefined || b === null) return (a ?? null) === (b ?? null)
  if (goType(a) !== goType(b)) throw new CallError('incompatible types for comparison')
  if (typeof plain(a) === 'object') throw new CallError(`non-comparable type ${goType(a)}`)
  return plain(a) === plain(b)
}

function order(a: unknown, b: unknown): number {
  if (goType(a) !== goType(b)) throw new CallError('incompatible types for comparison')
  const [x, y] = [plain(a), plain(b)]
  if (typeof x === 'number') return x - (y as number)
  if (typeof x === 'string') return compareText(x, y as string)
  throw new CallError('invalid type for comparison')
}

/** Spaces stand between two of which none is a string. */
const printed: Call = (...values) =>
  values.map((value, i) => `${i > 0 && typeof value !== 'string' && typeof values[i - 1] !== 'string' ? ' ' : ''}${goText(value)}`).join('')

const htmlCodes: { readonly [letter: string]: string } = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&#34;', "'": '&#39;' }
const jsCodes: { readonly [letter: string]: string } = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}
const codeOf = (letter: string): string => `\\u${letter.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

const decodeBase64: Call = (value) => {
  if (typeof value !== 'string') throw new CallError(`wrong type for value; expected string; got ${goType(value)}`)
  return Buffer.from(value, 'base64').toString('utf8')
}

const hasPath: Call = (value, ...keys) => {
  let at = value
  for (const key of keys) {
    const isList = Array.isArray(at) && typeof key === 'number' && key >= 0 && key < at.length
    const isMember = typeof at === 'object' && at !== null && !Array.isArray(at) && typeof key === 'string' && Object.hasOwn(at, key)
    if (!isList && !isMember) return false
    at = (at as { readonly [name: string]: unknown })[key as string]
  }
  return true
}

/** `and` and `or` are not here: they look at their second operand only where the first does not decide. */
export const functions: { readonly [name: string]: { readonly least: number; readonly most?: number; readonly call: Call } } = {
  not: { least: 1, most: 1, call: (value) => !isTrue(value) },
  len: { least: 1, most: 1, call: lengthOf },
  index: { least: 1, call: (value, ...keys) => keys.reduce((at, key) => memberOf(at, key), value) },
  slice: { least: 1, most: 4, call: sliceOf },
  print: { least: 0, call: printed },
  println: { least: 0, call: (...values) => `${values.map((value) => goText(value)).join(' ')}\n` },
  printf: { least: 1, call: (format, ...values) => formatText(String(format), values) },
  html: { least: 1, call: (...values) => String(printed(...values)).replaceAll(/[<>&"']/g, (letter) => htmlCodes[letter] as string) },
  js: {
    least: 1,
    call: (...values) => String(printed(...values)).replaceAll(/[\\'"<>&=\x00-\x1f]/g, (letter) => jsCodes[letter] ?? codeOf(letter)),
  },
  urlquery: {
    least: 1,
    call: (...values) => new URLSearchParams([['', String(printed(...values))]]).toString().slice(1).replaceAll('*', '%2A'),
  },
  eq: { least: 2, call: (value, ...others) => others.some((other) => isEqual(value, other)) },
  ne: { least: 2, most: 2, call: (a, b) => !isEqual(a, b) },
  lt: { least: 2, most: 2, call: (a, b) => order(a, b) < 0 },
  le: { least: 2, most: 2, call: (a, b) => order(a, b) <= 0 },
  gt: { least: 2, most: 2, call: (a, b) => order(a, b) > 0 },
  ge: { least: 2, most: 2, call: (a, b) => order(a, b) >= 0 },
  base64decode: { least: 1, most: 1, call: decodeBase64 },
  exists: { least: 1, call: hasPath },
}

export const functionNames: ReadonlySet<string> = new Set([...Object.keys(functions), 'and', 'or'])
