// Strict JSON parser: JSON.parse, and a slower parser for duplicate members, long integers and error messages.

import type { Json } from '../../api/object.js'
import { type CarefulJson, JsonSyntaxError, maxJsonDepth, parseJsonCarefully } from '../../schema/json/parse-json.js'

interface ParsedJson {
  readonly value: unknown
  /** Set if there are duplicate members. */
  readonly careful?: JsonWithDuplicates
  /** True if a number has a point or an exponent. */
  readonly decimals?: boolean
  readonly isEscapeFree?: boolean
}

export interface JsonWithDuplicates extends CarefulJson {
  readonly text: string
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export function parseJson(bytes: Uint8Array): ParsedJson {
  const scan = scanJson(bytes)
  if (scan.depth > maxJsonDepth) throw new JsonSyntaxError('exceeded max depth')
  const text = withoutLoneSurrogates(decoder.decode(bytes))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    // Throws, with the message of kube-apiserver.
    return { value: parseJsonCarefully(text).value }
  }
  const { decimals } = scan
  const needsCarefulParser = scan.longNumber || (decimals && largeExponent.test(text))
  if (!needsCarefulParser && countMembers(value) === scan.members)
    return { value, decimals, isEscapeFree: isLongAndEscapeFree(text, bytes) }
  const careful = parseJsonCarefully(text)
  return careful.duplicates.length === 0
    ? { value: careful.value, decimals }
    : { value: careful.value, careful: { ...careful, text }, decimals }
}

const surrogateEscape = /\\u[dD][89a-fA-F]/
const escapes = /\\(?:u([0-9a-fA-F]{4})|[\s\S])/g

/** Replaces escaped lone surrogates by U+FFFD, like kube-apiserver. Two member names can become equal. */
function withoutLoneSurrogates(text: string): string {
  if (!surrogateEscape.test(text)) return text
  let high: { readonly start: number; readonly end: number } | undefined
  const lone: number[] = []
  for (const { 0: sequence, 1: hex, index } of text.matchAll(escapes)) {
    const unit = hex === undefined ? 0 : Number.parseInt(hex, 16)
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    const isPair = isLow && high?.end === index
    if (high !== undefined && !isPair) lone.push(high.start)
    if (isLow && !isPair) lone.push(index)
    high = unit >= 0xd800 && unit <= 0xdbff ? { start: index, end: index + sequence.length } : undefined
  }
  if (high !== undefined) lone.push(high.start)
  let out = ''
  let from = 0
  for (const at of lone) {
    out += `${text.slice(from, at)}\\ufffd`
    from = at + escapeLength
  }
  return out + text.slice(from)
}

const escapeLength = '\\ud800'.length

/** An exponent that may exceed the range of doubles. */
const largeExponent = /\d[eE]\+?\d{3}/

const minLongBytes = 4096

/** True for long ASCII documents without characters that JSON or HTML escapes. */
const isLongAndEscapeFree = (text: string, bytes: Uint8Array): boolean =>
  bytes.length >= minLongBytes &&
  text.length === bytes.length &&
  !text.includes('\\') &&
  !text.includes('<') &&
  !text.includes('>') &&
  !text.includes('&') &&
  !text.includes('\ufffd')

/** Matches more than 15 digits, possibly inside a string. */
const longNumberPattern = /[:,[]-?\d{16}/

/** Maximum depth of written JSON: an object of maximum depth in a list or watch event. */
const maxWrittenDepth = maxJsonDepth + 8

/** Parses JSON written by this server. Keeps integers that a double would round. */
export const parseWrittenJson = (text: string): Json =>
  (longNumberPattern.test(text) ? parseJsonCarefully(text, { maxDepth: maxWrittenDepth }).value : JSON.parse(text)) as Json

interface JsonScan {
  readonly members: number
  readonly depth: number
  readonly longNumber: boolean
  /** True if a number has a point or an exponent. */
  readonly decimals: boolean
}

const quote = 0x22
const backslash = 0x5c
const point = 0x2e
const letterE = 0x65

/** Up to this length a loop is faster than the native search. */
const maxLoopBytes = 64

function scanJson(bytes: Uint8Array): JsonScan {
  const hasNoEscapes = !bytes.includes(backslash)
  let members = 0
  let level = 0
  let depth = 0
  let digits = 0
  let longNumber = false
  let decimals = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte >= 0x30 && byte <= 0x39) {
      if (++digits > 15) longNumber = true
      continue
    }
    digits = 0
    if (byte === quote) i = hasNoEscapes ? endOfUnescapedString(bytes, i + 1) : endOfString(bytes, i + 1)
    else if (byte === 0x3a) members++
    else if (byte === 0x7b || byte === 0x5b) {
      if (++level > depth) depth = level
    } else if (byte === 0x7d || byte === 0x5d) level--
    else if (byte === point || ((byte | 0x20) === letterE && isDigit(bytes[i - 1]))) decimals = true
  }
  return { members, depth, longNumber, decimals }
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** Upper bound of the items of a top-level list: 1 for an empty list, 0 for other values. */
export function countItems(bytes: Uint8Array): number {
  let isList = false
  let commas = 0
  let level = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] as number
    if (byte === quote) i = endOfString(bytes, i + 1)
    else if (byte === 0x2c) {
      if (level === 1) commas++
    } else if (byte === 0x7b || byte === 0x5b) {
      if (level++ === 0) isList = byte === 0x5b
    } else if (byte === 0x7d || byte === 0x5d) level--
  }
  return isList ? commas + 1 : 0
}

function endOfString(bytes: Uint8Array, from: number): number {
  for (let i = from; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === quote) return i
    if (byte === backslash) i++
  }
  return bytes.length
}

function endOfUnescapedString(bytes: Uint8Array, from: number): number {
  const loopEnd = Math.min(from + maxLoopBytes, bytes.length)
  for (let i = from; i < loopEnd; i++) if (bytes[i] === quote) return i
  const found = bytes.indexOf(quote, loopEnd)
  return found < 0 ? bytes.length : found
}

function countMembers(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  let count = 0
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) count += countMembers(value[i])
    return count
  }
  for (const key in value) count += 1 + countMembers((value as Record<string, unknown>)[key])
  return count
}
