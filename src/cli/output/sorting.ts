// The order of objects by one of their fields: numbers and quantities by size, times by time, texts by their letters.

import { compareText } from '../../base/text-order.js'
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

/** Objects without the field come first. */
export function sortKeyOf(field: string): (a: unknown, b: unknown) => number {
  const path = parseRelaxed(field)
  return (a, b) => compareValues(follow(path, a)[0], follow(path, b)[0])
}

export function compareValues(a: unknown, b: unknown): number {
  if (a === undefined || b === undefined) return (a === undefined ? 0 : 1) - (b === undefined ? 0 : 1)
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [x, y] = [String(a), String(b)]
  const [p, q] = [quantity.exec(x), quantity.exec(y)]
  if (p !== null && q !== null) return Number(p[1]) * (units[p[2] ?? ''] ?? 1) - Number(q[1]) * (units[q[2] ?? ''] ?? 1)
  return compareText(x, y)
}
