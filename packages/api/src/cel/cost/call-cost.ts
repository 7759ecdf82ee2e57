// What a call cost, now that its values are known. The units are those of the reference, to the last one.

import { costs } from './cost.js'
import { CelList, CelMap, countLetters, sizeOf, type Value } from './values.js'

const sizeOrOne = (value: Value | undefined): number => (value === undefined ? 1 : (sizeOf(value) ?? 1))
const walked = (size: number): number => Math.ceil(size * costs.perLetter)

export type CallCost = (args: readonly Value[], result: Value) => number

const one: CallCost = () => 1
const alongFirst: CallCost = ([first]) => walked(sizeOrOne(first))
const alongSmaller: CallCost = ([a, b]) => walked(Math.min(sizeOrOne(a), sizeOrOne(b)))
const alongBoth: CallCost = ([a, b]) => walked(sizeOrOne(a) + sizeOrOne(b))
const twiceAlongFirst: CallCost = ([first]) => Math.ceil(sizeOrOne(first) * 2 * costs.perLetter)
const byPattern: CallCost = ([text, pattern]) =>
  Math.ceil((1 + sizeOrOne(text)) * costs.perLetter) * Math.ceil(sizeOrOne(pattern) * costs.perPatternLetter)
const traversal: CallCost = ([first]) => (first === undefined ? 0 : traversalOf(first))

/** The cost of looking at every part of a value. */
function traversalOf(value: Value): number {
  if (typeof value === 'string') return Math.floor(countLetters(value) * costs.perLetter)
  if (value instanceof Uint8Array) return Math.floor(value.length * costs.perLetter)
  let sum = 0
  if (value instanceof CelList) {
    for (let i = 0; i < value.size; i++) sum += traversalOf(value.at(i))
    return sum
  }
  if (value instanceof CelMap) {
    for (const key of value.keys()) sum += traversalOf(key) + traversalOf(value.find(key) as Value)
    return sum
  }
  return 1
}

const byName: { readonly [name: string]: CallCost } = {
  isSorted: traversal,
  sum: traversal,
  max: traversal,
  min: traversal,
  indexOf: traversal,
  lastIndexOf: traversal,
  url: alongFirst,
  lowerAscii: alongFirst,
  upperAscii: alongFirst,
  substring: alongFirst,
  trim: alongFirst,
  replace: twiceAlongFirst,
  split: twiceAlongFirst,
  join: (_, result) => Math.ceil(sizeOrOne(result) * 2 * costs.perLetter),
  find: byPattern,
  findAll: byPattern,
}

const byOverload: { readonly [overload: string]: CallCost } = {
  starts_with_string: alongFirst,
  ends_with_string: alongFirst,
  string_to_bytes: alongFirst,
  bytes_to_string: alongFirst,
  in_list: ([, list]) => sizeOrOne(list),
  ...Object.fromEntries(
    ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) => [
      [`${verb}_string`, alongSmaller],
      [`${verb}_bytes`, alongSmaller],
    ]),
  ),
  equals: alongSmaller,
  not_equals: alongSmaller,
  add_string: alongBoth,
  add_bytes: alongBoth,
  matches_string: byPattern,
  contains_string: ([text, part]) => walked(sizeOrOne(text)) * walked(sizeOrOne(part)),
}

/** An overload is known only where a call can mean just one. */
export const costOfCall = (name: string, overloads: readonly string[]): CallCost => {
  const library = Object.hasOwn(byName, name) ? byName[name] : undefined
  if (library !== undefined) return library
  const [only] = overloads
  return (overloads.length === 1 && only !== undefined ? byOverload[only] : undefined) ?? one
}
