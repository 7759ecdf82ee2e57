// Path elements of managedFields: `f:name`, `k:{"port":80}`, `v:"x"`, `i:0`, and `.` for the value itself. Order and text of elements.

import { compareText } from '../../base/text-order.js'
import { parseJsonCarefully } from '../../schema/json/parse-json.js'
import { jsonText, writeAny } from '../../schema/json/write.js'

const maxCachedTexts = 1024
const maxCachedLength = 64

export function memoizeText(convert: (text: string) => string): (text: string) => string {
  const cache = new Map<string, string>()
  return (text) => {
    const found = cache.get(text)
    if (found !== undefined) return found
    const converted = convert(text)
    if (text.length > maxCachedLength) return converted
    // Bounded, because clients choose the texts.
    if (cache.size >= maxCachedTexts) cache.clear()
    cache.set(text, converted)
    return converted
  }
}

/** Element that makes an inner node of a field set a member. */
export const self = '.'

export const fieldElement: (name: string) => string = memoizeText((name) => `f:${name}`)
export const valueElement = (value: unknown): string => `v:${writeAny(value)}`

/** Orders numbers, strings, booleans, then null, lists and objects. */
export function compareValues(a: unknown, b: unknown): number {
  if (typeof a === 'string' && typeof b === 'string') return compareText(a, b)
  const rank = valueRank(a) - valueRank(b)
  if (rank !== 0) return rank
  if (typeof a === 'object') return compareText(writeAny(a), writeAny(b))
  return (a as number) < (b as number) ? -1 : (a as number) > (b as number) ? 1 : 0
}

function valueRank(value: unknown): number {
  if (typeof value === 'number' || typeof value === 'bigint') return 0
  if (typeof value === 'string') return 1
  return typeof value === 'boolean' ? 2 : 3
}

const kinds = '.fkvi'
const keyKind = kinds.indexOf('k')
const valueKind = kinds.indexOf('v')
const positionKind = kinds.indexOf('i')

export interface RankedElement {
  readonly element: string
  readonly kind: number
  readonly value: unknown
}

export function rankElement(element: string): RankedElement {
  const kind = kinds.indexOf(element.charAt(0))
  if (kind === keyKind) return { element, kind, value: Object.entries(readJson(element) as Keys) }
  return { element, kind, value: kind === valueKind ? readJson(element) : kind === positionKind ? Number(element.slice(2)) : undefined }
}

/** Order of managedFields: fields, keyed items, values, indexes. */
export function compareRanked(a: RankedElement, b: RankedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  if (a.element === b.element) return 0
  if (a.kind === keyKind) return compareKeys(a.value as KeyEntries, b.value as KeyEntries)
  if (a.kind === valueKind) return compareValues(a.value, b.value)
  return a.kind === positionKind ? (a.value as number) - (b.value as number) : compareText(a.element, b.element)
}

export const compareElements = (a: string, b: string): number => compareRanked(rankElement(a), rankElement(b))

type Keys = { readonly [name: string]: unknown }

/** Integers of 16 digits or more may be beyond 2^53. */
const longInteger = /\d{16}/

const readJson = (element: string): unknown => {
  const text = element.slice(2)
  return longInteger.test(text) ? parseJsonCarefully(text).value : JSON.parse(text)
}

type KeyEntries = readonly (readonly [name: string, value: unknown])[]

function compareKeys(a: KeyEntries, b: KeyEntries): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [name, value] = a[i] as KeyEntries[number]
    const [otherName, otherValue] = b[i] as KeyEntries[number]
    const order = compareText(name, otherName) || compareValues(value, otherValue)
    if (order !== 0) return order
  }
  return a.length - b.length
}

/** Returns 'unknown' for an unknown element type, which a later release may have written, and undefined if invalid. */
export function canonicalElement(text: string): string | 'unknown' | undefined {
  if (text.length < 2 || text.charAt(1) !== ':') return undefined
  switch (text.charAt(0)) {
    case 'f':
      return text
    case 'i':
      return /^-?\d+$/.test(text.slice(2)) ? `i:${Number(text.slice(2))}` : undefined
    case 'v':
      return canonicalJson(text, () => true)
    case 'k':
      return canonicalJson(text, (value) => typeof value === 'object' && value !== null && !Array.isArray(value))
    default:
      return 'unknown'
  }
}

function canonicalJson(text: string, isValid: (value: unknown) => boolean): string | undefined {
  try {
    const value = readJson(text)
    return isValid(value) ? text.slice(0, 2) + writeAny(text.startsWith('k') ? sortedKeys(value as Keys) : value) : undefined
  } catch {
    return undefined
  }
}

const sortedKeys = (keys: Keys): Keys => Object.fromEntries(Object.entries(keys).sort(([a], [b]) => compareText(a, b)))

export function printElement(element: string): string {
  switch (element.charAt(0)) {
    case 'f':
      return `.${element.slice(2)}`
    case 'k':
      return `[${Object.entries(readJson(element) as Keys)
        .map(([name, value]) => `${name}=${jsonText(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${jsonText(readJson(element))}]`
    default:
      return `[${element.slice(2)}]`
  }
}
