// One text of the command line as the value of its kind; what is wrong with it is thrown as a plain sentence without the flag's name.

import { isIP } from 'node:net'
import type { FlagDefinition } from './flag.js'
import { nearest } from './nearest.js'

const quoted = (text: string): string => JSON.stringify(text)

const truths = ['1', 't', 'T', 'true', 'True', 'TRUE']
const falsehoods = ['0', 'f', 'F', 'false', 'False', 'FALSE']

export function parseBoolean(text: string): boolean {
  if (truths.includes(text)) return true
  if (falsehoods.includes(text)) return false
  throw new Error(`${quoted(text)} is neither true nor false`)
}

const unitMs: { readonly [unit: string]: number } = { ns: 1e-6, us: 1e-3, µs: 1e-3, μs: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
const durationPattern = /^(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h))+$/

/** Such as `1h30m`, `1.5s`, `300ms` or `0`, in milliseconds. Every duration on this command line is a length of time, never negative. */
export function parseDuration(text: string): number {
  if (/^[+]?0+$/.test(text)) return 0
  if (text.startsWith('-')) throw new Error(`${quoted(text)} is negative`)
  if (!durationPattern.test(text)) throw new Error(`${quoted(text)} is not a duration such as 90s, 5m or 1h30m`)
  let ms = 0
  for (const [, amount, unit] of text.matchAll(/([\d.]+)([^\d.]+)/g)) ms += Number(amount) * (unitMs[unit ?? ''] ?? 0)
  if (!Number.isFinite(ms)) throw new Error(`${quoted(text)} is too long`)
  return ms
}

const byteUnits = ['', 'k', 'm', 'g', 't']

/** Such as `268435456`, `256MiB`, `256Mi` or `1GB`. */
export function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?$/i.exec(text)
  if (match === null) throw new Error(`${quoted(text)} is not a number of bytes such as 1000000, 256MiB or 1GB`)
  const [, amount, unit = '', binary] = match
  const bytes = Math.round(Number(amount) * (binary === '' ? 1000 : 1024) ** byteUnits.indexOf(unit.toLowerCase()))
  if (!Number.isSafeInteger(bytes)) throw new Error(`${quoted(text)} is too much`)
  return bytes
}

function parsePort(text: string): number {
  const port = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65535)) throw new Error(`${quoted(text)} is not a port (0–65535)`)
  return port
}

function parseAddress(text: string): string {
  if (isIP(text) === 0) throw new Error(`${quoted(text)} is not an IP address`)
  return text
}

interface Bounds {
  readonly kind: 'integer' | 'number'
  readonly min?: number
  readonly max?: number
}

function parseNumber(text: string, { kind, min = -Infinity, max = Infinity }: Bounds): number {
  const pattern = kind === 'integer' ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)$/
  const value = pattern.test(text) ? Number(text) : Number.NaN
  if (Number.isNaN(value) || (kind === 'integer' && !Number.isSafeInteger(value))) {
    throw new Error(`${quoted(text)} is not a ${kind === 'integer' ? 'whole number' : 'number'}`)
  }
  if (value < min) throw new Error(`${text} is less than ${min}`)
  if (value > max) throw new Error(`${text} is more than ${max}`)
  return value
}

function parseChoice(text: string, choices: readonly string[]): string {
  if (choices.includes(text)) return text
  const close = nearest(text, choices)
  const advice = choices.length <= 10 ? `choose from ${choices.join(', ')}` : close === undefined ? '' : `did you mean ${close}?`
  throw new Error(`${quoted(text)} is unknown${advice === '' ? '' : `; ${advice}`}`)
}

function parseNonEmpty(text: string, what: string): string {
  if (text === '') throw new Error(`the name of a ${what} is missing`)
  return text
}

/** The parts of a comma list; empty parts, as in `a,,b`, are left out. */
const parts = (text: string): readonly string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** The value of one occurrence of a flag; for kinds that hold several, a list. */
export function parseFlagValue(flag: FlagDefinition, text: string): boolean | number | string | readonly string[] {
  switch (flag.kind) {
    case 'boolean':
      return parseBoolean(text)
    case 'text':
      return text
    case 'port':
      return parsePort(text)
    case 'address':
      return parseAddress(text)
    case 'duration':
      return parseDuration(text)
    case 'bytes':
      return parseBytes(text)
    case 'integer':
    case 'number':
      return parseNumber(text, flag)
    case 'choice':
      return parseChoice(text, flag.choices)
    case 'choices':
      return parts(text).map((part) => parseChoice(part, flag.choices))
    case 'list':
      return parts(text)
    case 'texts':
      return [text]
    case 'file':
      return parseNonEmpty(text, 'file')
    case 'files':
      return [parseNonEmpty(text, 'file')]
    case 'folder':
      return parseNonEmpty(text, 'folder')
  }
}
