// Functions of Go templates: Go's built-ins, and base64decode and exists of kubectl.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { isRecord } from '@cluster-apiserver/api/patch/json-value.js'
import { Float, floatText, goText, goType } from '../go-text.js'

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

function sliceOf(value: unknown, ...bounds: readonly unknown[]): unknown {
  if (typeof value !== 'string' && !Array.isArray(value)) throw new CallError(`can't slice item of type ${goType(value)}`)
  const length = lengthOf(value)
  const [start = 0, end = length] = bounds as readonly number[]
  if (!(start >= 0 && end <= length)) throw new CallError(`index out of range: ${start < 0 ? start : end}`)
  if (start > end) throw new CallError(`invalid slice index: ${start} > ${end}`)
  return typeof value === 'string' ? bytesOf(value).subarray(start, end).toString('utf8') : value.slice(start, end)
}

const unwrapFloat = (value: unknown): unknown => (value instanceof Float ? value.value : value)

function isEqual(a: unknown, b: unknown): boolean {
  if (a === undefined || a === null || b === undefined || b === null) return (a ?? null) === (b ?? null)
  if (goType(a) !== goType(b)) throw new CallError('incompatible types for comparison')
  if (typeof unwrapFloat(a) === 'object') throw new CallError(`non-comparable type ${goType(a)}`)
  return unwrapFloat(a) === unwrapFloat(b)
}

function compare(a: unknown, b: unknown): number {
  if (goType(a) !== goType(b)) throw new CallError('incompatible types for comparison')
  const [x, y] = [unwrapFloat(a), unwrapFloat(b)]
  if (typeof x === 'number') return x - (y as number)
  if (typeof x === 'string') return compareText(x, y as string)
  throw new CallError('invalid type for comparison')
}

const printText: Call = (...values) =>
  values.map((value, i) => `${i > 0 && typeof value !== 'string' && typeof values[i - 1] !== 'string' ? ' ' : ''}${goText(value)}`).join('')

const htmlCodes: { readonly [char: string]: string } = { '<': '&lt;', '>': '&gt;', '&': '&amp;', '"': '&#34;', "'": '&#39;' }
const jsCodes: { readonly [char: string]: string } = {
  '\\': '\\\\',
  "'": "\\'",
  '"': '\\"',
  '<': '\\u003C',
  '>': '\\u003E',
  '&': '\\u0026',
  '=': '\\u003D',
}
const codeOf = (char: string): string => `\\u${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

const decodeBase64: Call = (value) => {
  if (typeof value !== 'string') throw new CallError(`wrong type for value; expected string; got ${goType(value)}`)
  return Buffer.from(value, 'base64').toString('utf8')
}

const hasPath: Call = (value, ...keys) => {
  let current = value
  for (const key of keys) {
    const isList = Array.isArray(current) && typeof key === 'number' && key >= 0 && key < current.length
    const isMember = isRecord(current) && typeof key === 'string' && Object.hasOwn(current, key)
    if (!isList && !isMember) return false
    current = (current as { readonly [name: string]: unknown })[key as string]
  }
  return true
}

/** Without `and` and `or`, which evaluate their operands lazily (run.ts). */
export const functions: { readonly [name: string]: { readonly minArgs: number; readonly maxArgs?: number; readonly call: Call } } = {
  not: { minArgs: 1, maxArgs: 1, call: (value) => !isTrue(value) },
  len: { minArgs: 1, maxArgs: 1, call: lengthOf },
  index: { minArgs: 1, call: (value, ...keys) => keys.reduce((current, key) => memberOf(current, key), value) },
  slice: { minArgs: 1, maxArgs: 4, call: sliceOf },
  print: { minArgs: 0, call: printText },
  println: { minArgs: 0, call: (...values) => `${values.map((value) => goText(value)).join(' ')}\n` },
  printf: { minArgs: 1, call: (format, ...values) => formatText(String(format), values) },
  html: { minArgs: 1, call: (...values) => String(printText(...values)).replaceAll(/[<>&"']/g, (char) => htmlCodes[char] as string) },
  js: {
    minArgs: 1,
    call: (...values) => String(printText(...values)).replaceAll(/[\\'"<>&=\x00-\x1f]/g, (char) => jsCodes[char] ?? codeOf(char)),
  },
  urlquery: {
    minArgs: 1,
    call: (...values) => new URLSearchParams([['', String(printText(...values))]]).toString().slice(1).replaceAll('*', '%2A'),
  },
  eq: { minArgs: 2, call: (value, ...others) => others.some((other) => isEqual(value, other)) },
  ne: { minArgs: 2, maxArgs: 2, call: (a, b) => !isEqual(a, b) },
  lt: { minArgs: 2, maxArgs: 2, call: (a, b) => compare(a, b) < 0 },
  le: { minArgs: 2, maxArgs: 2, call: (a, b) => compare(a, b) <= 0 },
  gt: { minArgs: 2, maxArgs: 2, call: (a, b) => compare(a, b) > 0 },
  ge: { minArgs: 2, maxArgs: 2, call: (a, b) => compare(a, b) >= 0 },
  base64decode: { minArgs: 1, maxArgs: 1, call: decodeBase64 },
  exists: { minArgs: 1, call: hasPath },
}

export const functionNames: ReadonlySet<string> = new Set([...Object.keys(functions), 'and', 'or'])

const verbPattern = /%([-+# 0]*)(\d+)?(?:\.(\d*))?(.)/gsu

function formatText(format: string, values: readonly unknown[]): string {
  let used = 0
  const text = format.replaceAll(
    verbPattern,
    (_, flags: string, width: string | undefined, precision: string | undefined, char: string) => {
      if (char === '%') return '%'
      if (used >= values.length) return `%!${char}(MISSING)`
      const value = values[used++]
      const formatted = formatVerb(char, value, { flags, precision: precision === undefined ? undefined : Number(precision) })
      return pad(formatted ?? `%!${char}(${typedText(value)})`, flags, Number(width ?? 0), typeof unwrapFloat(value) === 'number')
    },
  )
  if (used >= values.length) return text
  return `${text}%!(EXTRA ${values.slice(used).map(typedText).join(', ')})`
}

const typedText = (value: unknown): string => (value === null || value === undefined ? '<nil>' : `${goType(value)}=${goText(value)}`)

interface VerbOptions {
  readonly flags: string
  readonly precision: number | undefined
}

function formatVerb(char: string, operand: unknown, { flags, precision }: VerbOptions): string | undefined {
  const value = unwrapFloat(operand)
  const signed = (text: string): string =>
    flags.includes('+') && !text.startsWith('-') ? `+${text}` : flags.includes(' ') && !text.startsWith('-') ? ` ${text}` : text
  if (char === 'v') return flags.includes('#') && typeof value === 'string' ? JSON.stringify(value) : goText(operand)
  if (char === 'T') return goType(operand)
  if (char === 't') return typeof value === 'boolean' ? String(value) : undefined
  if (typeof value === 'string') return showText(char, value, precision)
  if (typeof value !== 'number') return char === 's' && typeof value === 'object' && value !== null ? goText(value) : undefined
  if (goType(operand) === 'float64')
    switch (char) {
      case 'f':
      case 'F':
        return signed(value.toFixed(precision ?? 6))
      case 'e':
        return signed(exponent(value.toExponential(precision ?? 6)))
      case 'g':
        return signed(precision === undefined ? floatText(value) : String(Number(value.toPrecision(precision || 1))))
      default:
        return undefined
    }
  const radix = { d: 10, x: 16, X: 16, o: 8, b: 2 }[char]
  if (radix !== undefined) return signed(char === 'X' ? value.toString(16).toUpperCase() : value.toString(radix))
  if (char === 'c') return String.fromCodePoint(value)
  return char === 'q' ? `'${String.fromCodePoint(value)}'` : undefined
}

const exponent = (text: string): string => text.replace(/e([+-])(\d)$/, 'e$10$2')

function showText(char: string, value: string, precision: number | undefined): string | undefined {
  const truncated = precision === undefined ? value : [...value].slice(0, precision).join('')
  if (char === 's') return truncated
  if (char === 'q') return JSON.stringify(truncated)
  const hex = (): string => Buffer.from(truncated, 'utf8').toString('hex')
  return char === 'x' ? hex() : char === 'X' ? hex().toUpperCase() : undefined
}

const maxWidth = 1000

function pad(text: string, flags: string, width: number, isNumber: boolean): string {
  const missing = Math.min(width, maxWidth) - [...text].length
  if (missing <= 0) return text
  if (flags.includes('-')) return text + ' '.repeat(missing)
  if (!flags.includes('0') || !isNumber) return ' '.repeat(missing) + text
  const sign = /^[+-]/.test(text) ? (text[0] as string) : ''
  return sign + '0'.repeat(missing) + text.slice(sign.length)
}
