// The order of objects by one of their fields: numbers and quantities by size, times by time, texts by their letters.

import { compareText } from '../../base/text-order.js'
import { Failure } from '../failure.js'
import { follow, parseRelaxed } from './json-path.js'

const quantity = /^([+-]?\d+(?:\.\d+)?)(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi|E|Ei)?$/
const units: { readonly [unit: string]: number } = {
  m: 1e-3,
  k: 1e3,
  Ki: 2 ** 10,
  M: 1e6,
  Mi: 2 ** 20,
  G: 1e9,
  Gi: 2 ** 30,
  T: 1e12,
  Ti: 2 ** 40,
  P: 1e15,
  Pi: 2 ** 50,
  E: 1e18,
  Ei: 2 ** 60,
}

/** In the order of a field; objects without it come first. A field that none of them has is a mistake. */
export function sortedBy<T>(field: string, items: readonly T[], objectOf: (item: T) => unknown = (item) => item): readonly T[] {
  const path = parseRelaxed(field)
  const keyed = items.map((item) => ({ item, key: follow(path, objectOf(item))[0] }))
  if (keyed.length > 0 && keyed.every(({ key }) => key === undefined))
    throw new Failure(`couldn't find any field with path "${asTemplate(field)}" in the list of objects`)
  return keyed.sort((a, b) => compareValues(a.key, b.key)).map(({ item }) => item)
}

const asTemplate = (field: string): string => (field.startsWith('{') ? field : `{${field.startsWith('.') ? '' : '.'}${field}}`)

export function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return (a === undefined ? 0 : 1) - (b === undefined ? 0 : 1)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [x, y] = [String(a), String(b)]
  const [p, q] = [quantity.exec(x), quantity.exec(y)]
  if (p !== null && q !== null) return Number(p[1]) * (units[p[2] ?? ''] ?? 1) - Number(q[1]) * (units[q[2] ?? ''] ?? 1)
  return compareText(x, y)
}
