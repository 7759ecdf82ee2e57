// Parses the value of one flag. Error messages lack the name of the flag, which the caller adds.

import { isIP } from 'node:net'
import { parseDurationMs } from '@cluster-apiserver/api/base/duration.js'
import type { FlagDefinition } from './flag.js'

const quoted = (text: string): string => JSON.stringify(text)

const trueTexts = ['1', 't', 'T', 'true', 'True', 'TRUE']
const falseTexts = ['0', 'f', 'F', 'false', 'False', 'FALSE']

function parseBoolean(text: string): boolean {
  if (trueTexts.includes(text)) return true
  if (falseTexts.includes(text)) return false
  throw new Error(`${quoted(text)} is neither true nor false`)
}

/** Parses `1h30m`, `1.5s`, `300ms` or `0` into milliseconds. */
export function parseDuration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new Error(`${quoted(text)} is not a duration such as 90s, 5m or 1h30m`)
  if (ms < 0) throw new Error(`${quoted(text)} is negative`)
  return ms
}

const byteUnits = ['', 'k', 'm', 'g', 't']

/** Parses `268435456`, `256MiB`, `256Mi` or `1GB`. */
function parseBytes(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?$/i.exec(text)
  if (match === null) throw new Error(`${quoted(text)} is not a number of bytes such as 1000000, 256MiB or 1GB`)
  const [, amount, unit = '', binary] = match
  const bytes = Math.round(Number(amount) * (binary === '' ? 1000 : 1024) ** byteUnits.indexOf(unit.toLowerCase()))
  if (!Number.isSafeInteger(bytes)) throw new Error(`${quoted(text)} is too large`)
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
  const suggestion = nearest(text, choices)
  const advice = choices.length <= 10 ? `choose from ${choices.join(', ')}` : suggestion === undefined ? '' : `did you mean ${suggestion}?`
  throw new Error(`${quoted(text)} is unknown${advice === '' ? '' : `; ${advice}`}`)
}

function parseNonEmpty(text: string, noun: string): string {
  if (text === '') throw new Error(`the name of a ${noun} is missing`)
  return text
}

/** Drops empty items, as in `a,,b`. */
const listItems = (text: string): readonly string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '')

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
      return listItems(text).map((item) => parseChoice(item, flag.choices))
    case 'list':
      return listItems(text)
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

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}

/** Finds the candidate with the smallest edit distance; undefined if more than one, and more than a third, of the characters differ. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const lower = text.toLowerCase()
  let best: string | undefined
  let minEdits = Math.max(1, Math.floor(text.length / 3)) + 1
  for (const candidate of candidates) {
    const edits = editDistance(lower, candidate.toLowerCase())
    if (edits < minEdits) {
      best = candidate
      minEdits = edits
    }
  }
  return best
}
