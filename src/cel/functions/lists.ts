// Functions of lists: order, sum, least, greatest, place.

import { Uint } from '../uint.js'
import { CelError, type CelList, compare, Duration, isEqual, type Value } from '../values.js'
import { add } from './arithmetic.js'

/** Neighbours of which neither is the greater, such as a number and a text, are in order. */
export function isSorted(list: CelList): Value {
  for (let i = 1; i < list.size; i++) if ((compare(list.at(i - 1), list.at(i)) ?? 0) > 0) return false
  return true
}

/** The neutral element of each type that can be added up. */
const zeros: { readonly [type: string]: Value } = { int: 0n, uint: new Uint(0n), double: 0, duration: new Duration(0n) }

export function sum(list: CelList, elementType: string): Value {
  const known = zeros[elementType]
  let total = known ?? (list.size === 0 ? 0n : list.at(0))
  for (let i = known === undefined ? 1 : 0; i < list.size && !(total instanceof CelError); i++) total = add(total, list.at(i))
  return total
}

export function extreme(list: CelList, name: 'min' | 'max'): Value {
  if (list.size === 0) return new CelError(`${name} called on empty list`)
  let best = list.at(0)
  for (let i = 1; i < list.size; i++) {
    const item = list.at(i)
    // What has no order beside the best so far is passed over.
    const order = compare(best, item) ?? 0
    if (name === 'min' ? order > 0 : order < 0) best = item
  }
  return best
}

export function indexIn(list: CelList, value: Value): Value {
  for (let i = 0; i < list.size; i++) if (isEqual(list.at(i), value) === true) return BigInt(i)
  return -1n
}

export function lastIndexIn(list: CelList, value: Value): Value {
  for (let i = list.size - 1; i >= 0; i--) if (isEqual(list.at(i), value) === true) return BigInt(i)
  return -1n
}
