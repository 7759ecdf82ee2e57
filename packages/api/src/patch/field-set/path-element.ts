// One step of a path in a field set, as managedFields spell it: `f:name`, `k:{"port":80}`, `v:"x"`, `i:0`, and `.` for the value itself.
// The text is the element; this file knows its order, its canonical form and how conflicts print it.

import { compareText } from '../base/text-order.js'
import { writeAny } from '../schema/write.js'
import { cached } from './element-cache.js'

/** Marks that the value which holds the other elements is itself a member. */
export const self = '.'

export const fieldElement: (name: string) => string = cached((name) => `f:${name}`)
export const valueElement = (value: unknown): string => `v:${writeAny(value)}`

/** Numbers before texts before truth values before the rest. */
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

/** An element with what its order depends on, so that its text is parsed once and not in every comparison. */
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

/** The order in which managedFields are written: fields, then keyed items, then values, then positions. */
export function compareRanked(a: RankedElement, b: RankedElement): number {
  if (a.kind !== b.kind) return a.kind - b.kind
  if (a.element === b.element) return 0
  if (a.kind === keyKind) return compareKeys(a.value as KeyEntries, b.value as KeyEntries)
  if (a.kind === valueKind) return compareValues(a.value, b.value)
  return a.kind === positionKind ? (a.value as number) - (b.value as number) : compareText(a.element, b.element)
}

export const compareElements = (a: string, b: string): number => compareRanked(rankElement(a), rankElement(b))

type Keys = { readonly [name: string]: unknown }

const readJson = (element: string): unknown => JSON.parse(element.slice(2))

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

/** The one form of an element that a client wrote: 'unknown' for kinds of a later release, undefined for what is no element. */
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

function canonicalJson(text: string, fits: (value: unknown) => boolean): string | undefined {
  try {
    const value = readJson(text)
    return fits(value) ? text.slice(0, 2) + writeAny(text.startsWith('k') ? sortedKeys(value as Keys) : value) : undefined
  } catch {
    return undefined
  }
}

const sortedKeys = (keys: Keys): Keys => Object.fromEntries(Object.entries(keys).sort(([a], [b]) => compareText(a, b)))

/** Such as `.image`, `[port=80,protocol="TCP"]`, `[="x"]`. */
export function printElement(element: string): string {
  switch (element.charAt(0)) {
    case 'f':
      return `.${element.slice(2)}`
    case 'k':
      return `[${Object.entries(readJson(element) as Keys)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(',')}]`
    case 'v':
      return `[=${JSON.stringify(readJson(element))}]`
    default:
      return `[${element.slice(2)}]`
  }
}
