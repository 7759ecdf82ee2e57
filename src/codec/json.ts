// JSON bytes to a value, strictly: the native parser does the work, and the careful one is asked only when there is a doubt.

import type { Json } from '../api/object.js'
import { type CarefulJson, JsonSyntaxError, maxJsonDepth, parseJsonCarefully } from '../schema/json-parse.js'
import { countMembers, scanJson } from './json-scan.js'

export interface ParsedJson {
  readonly value: unknown
  /** Present when a member stood twice: the details that a report needs. */
  readonly careful?: DoubtfulJson
  /** Whether a number is written with a point or an exponent: what it may be decides its schema. */
  readonly decimals?: boolean
  /** Whether it is long, and no string in it needs an escape when it is written again. */
  readonly isPlain?: boolean
}

/** What was found to have duplicates, with its text. */
export interface DoubtfulJson extends CarefulJson {
  readonly text: string
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Throws {@link JsonSyntaxError} with the reference's words. */
export function parseJson(bytes: Uint8Array): ParsedJson {
  const scan = scanJson(bytes)
  if (scan.depth > maxJsonDepth) throw new JsonSyntaxError('exceeded max depth')
  const text = withoutLoneSurrogates(decoder.decode(bytes))
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return { value: parseJsonCarefully(text).value } // which throws, in better words
  }
  const { decimals } = scan
  const isLong = scan.longNumber || (decimals && largeExponent.test(text))
  if (!isLong && countMembers(value) === scan.members) return { value, decimals, isPlain: isLongAndPlain(text, bytes) }
  const careful = parseJsonCarefully(text)
  return careful.duplicates.length === 0
    ? { value: careful.value, decimals }
    : { value: careful.value, careful: { ...careful, text }, decimals }
}

const surrogateEscape = /\\u[dD][89a-fA-F]/
const escapes = /\\(?:u([0-9a-fA-F]{4})|[\s\S])/g

/**
 * Replaces escapes of lone surrogates by U+FFFD, as the reference does. No UTF-8 exists for them: the store would replace them later, so that two
 * members could get the same name.
 */
function withoutLoneSurrogates(text: string): string {
  if (!surrogateEscape.test(text)) return text
  /** Where the last high surrogate ends, and where it begins. */
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

/** Of a number that may be beyond all that there are, which the native parser takes for infinite. */
const largeExponent = /\d[eE]\+?\d{3}/

/** From here on it is quicker to look at the whole than at each string. */
const longText = 4096

/**
 * Bytes that are as many as their characters are ASCII, or no UTF-8 and each replaced by a mark. Control characters cannot stand in JSON but
 * with a backslash.
 */
const isLongAndPlain = (text: string, bytes: Uint8Array): boolean =>
  bytes.length >= longText &&
  text.length === bytes.length &&
  !text.includes('\\') &&
  !text.includes('<') &&
  !text.includes('>') &&
  !text.includes('&') &&
  !text.includes('\ufffd')

/** A number of more than fifteen digits, or what looks like one inside a string. */
const longNumber = /[:,[]-?\d{16}/

/** An object as deep as it may be, in a list or a frame. */
const maxWrittenDepth = maxJsonDepth + 8

/** JSON that this server wrote: valid, and without members that stand twice. Integers of any length are kept. */
export const parseWrittenJson = (text: string): Json =>
  (longNumber.test(text) ? parseJsonCarefully(text, { maxDepth: maxWrittenDepth }).value : JSON.parse(text)) as Json
