// Actual cost of a CEL call by its argument values, in the units of kube-apiserver.

import { CelList, CelMap, sizeOf, utf8Length, type Value } from '../values/values.js'
import { costs } from './cost-units.js'

const sizeOrOne = (value: Value | undefined): number => (value === undefined ? 1 : (sizeOf(value) ?? 1))
const costPerChar = (size: number): number => Math.ceil(size * costs.perChar)

export type CallCost = (args: readonly Value[], result: Value) => number

const constantOne: CallCost = () => 1
const bySizeOfFirst: CallCost = ([first]) => costPerChar(sizeOrOne(first))
const bySmallerSize: CallCost = ([a, b]) => costPerChar(Math.min(sizeOrOne(a), sizeOrOne(b)))
const bySumOfSizes: CallCost = ([a, b]) => costPerChar(sizeOrOne(a) + sizeOrOne(b))
const byTwiceSizeOfFirst: CallCost = ([first]) => Math.ceil(sizeOrOne(first) * 2 * costs.perChar)
const byTextAndRegex: CallCost = ([text, pattern]) =>
  Math.ceil((1 + sizeOrOne(text)) * costs.perChar) * Math.ceil(sizeOrOne(pattern) * costs.perPatternChar)
const traversal: CallCost = ([first]) => (first === undefined ? 0 : traversalOf(first))

function traversalOf(value: Value): number {
  // Counts bytes; all other costs of strings count characters.
  if (typeof value === 'string') return Math.floor(utf8Length(value) * costs.perChar)
  if (value instanceof Uint8Array) return Math.floor(value.length * costs.perChar)
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
  url: bySizeOfFirst,
  lowerAscii: bySizeOfFirst,
  upperAscii: bySizeOfFirst,
  substring: bySizeOfFirst,
  trim: bySizeOfFirst,
  replace: byTwiceSizeOfFirst,
  split: byTwiceSizeOfFirst,
  join: (_, result) => Math.ceil(sizeOrOne(result) * 2 * costs.perChar),
  find: byTextAndRegex,
  findAll: byTextAndRegex,
}

const byOverload: { readonly [overload: string]: CallCost } = {
  starts_with_string: bySizeOfFirst,
  ends_with_string: bySizeOfFirst,
  string_to_bytes: bySizeOfFirst,
  bytes_to_string: bySizeOfFirst,
  in_list: ([, list]) => sizeOrOne(list),
  ...Object.fromEntries(
    ['less', 'less_equals', 'greater', 'greater_equals'].flatMap((verb) => [
      [`${verb}_string`, bySmallerSize],
      [`${verb}_bytes`, bySmallerSize],
    ]),
  ),
  equals: bySmallerSize,
  not_equals: bySmallerSize,
  add_string: bySumOfSizes,
  add_bytes: bySumOfSizes,
  matches_string: byTextAndRegex,
  contains_string: ([text, part]) => costPerChar(sizeOrOne(text)) * costPerChar(sizeOrOne(part)),
}

/** Cost of library functions by name, of standard functions by overload if only one is possible; else 1. */
export const costOfCall = (name: string, overloads: readonly string[]): CallCost => {
  const library = Object.hasOwn(byName, name) ? byName[name] : undefined
  if (library !== undefined) return library
  const [overload] = overloads
  return (overloads.length === 1 && overload !== undefined ? byOverload[overload] : undefined) ?? constantOne
}
