// How the items of a list are told apart: by their key fields or, in a set, by themselves.

import type { ListKey, ListTopology } from '../schema/topology.js'
import { writeAny, writeText } from '../schema/write.js'
import { cached } from './element-cache.js'
import { compareValues, printElement, valueElement } from './path-element.js'
import { isRecord, own } from './plain.js'

/** A list whose items cannot be told apart: a key is missing, or two items are the same. */
export class UnkeyedListError extends Error {
  override readonly name = 'UnkeyedListError'
}

/** What tells an item apart by its key at a position; throws where there is none. */
function keyOf(list: ListTopology, item: unknown, position: number): unknown {
  const key = list.keys[position]
  if (key === undefined) return setItem(item)
  if (!isRecord(item))
    throw new UnkeyedListError(`associative list with keys may not have ${item === null ? 'a null element' : 'non-map elements'}`)
  const value = own(item, key.name) ?? key.fallback
  if (value === undefined)
    throw new UnkeyedListError(
      `associative list with keys has an element that omits key field "${key.name}" (and doesn't have default value)`,
    )
  return value
}

function setItem(item: unknown): unknown {
  if (typeof item !== 'object') return item
  if (Array.isArray(item)) throw new UnkeyedListError('not supported: associative list with lists as elements')
  throw new UnkeyedListError(`associative list without keys has an element that's ${item === null ? 'an explicit null' : 'a map type'}`)
}

/** The path element of an item: `k:{"name":"a"}` or `v:"a"`. */
export function elementOf(list: ListTopology, item: unknown): string {
  const first = list.keys[0]
  if (first === undefined) return valueElement(setItem(item))
  const value = keyOf(list, item, 0)
  if (list.keys.length === 1 && typeof value === 'string') return textElement(first)(value)
  return `k:{${list.keys.map((key, i) => `"${key.name}":${writeAny(keyOf(list, item, i))}`).join(',')}}`
}

const textElements = new WeakMap<ListKey, (text: string) => string>()

/** How items of a list with one key look, where the key is a text. */
function textElement(key: ListKey): (text: string) => string {
  let make = textElements.get(key)
  if (make === undefined) {
    make = cached((text) => `k:{"${key.name}":${writeText(text)}}`)
    textElements.set(key, make)
  }
  return make
}

/** Whether two items are the same one, in whatever state. */
function isSameItem(list: ListTopology, a: unknown, b: unknown): boolean {
  if (keyOf(list, a, 0) !== keyOf(list, b, 0)) return false
  for (let i = 1; i < list.keys.length; i++) if (keyOf(list, a, i) !== keyOf(list, b, i)) return false
  return true
}

/** Whether two lists have the same items at the same places. */
export function isSameOrder(list: ListTopology, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!isSameItem(list, a[i], b[i])) return false
  return true
}

/** The order of items in managedFields. */
export function compareItems(list: ListTopology, a: unknown, b: unknown): number {
  let order = compareValues(keyOf(list, a, 0), keyOf(list, b, 0))
  for (let i = 1; order === 0 && i < list.keys.length; i++) order = compareValues(keyOf(list, a, i), keyOf(list, b, i))
  return order
}

/** The items in the order of managedFields; throws unless every item can be told apart from the others. */
export function sortedItems(list: ListTopology, items: readonly unknown[]): readonly unknown[] {
  const keyed = items.map((item) => ({ item, key: keyOf(list, item, 0) }))
  // Only where the first keys are equal are the others looked at.
  const compare = (a: KeyedItem, b: KeyedItem): number => compareValues(a.key, b.key) || compareItems(list, a.item, b.item)
  if (isAscending(keyed, compare)) return items
  keyed.sort(compare)
  for (let i = 1; i < keyed.length; i++)
    if (compare(keyed[i - 1] as KeyedItem, keyed[i] as KeyedItem) === 0) throw duplicate(elementOf(list, keyed[i]?.item))
  return keyed.map(({ item }) => item)
}

interface KeyedItem {
  readonly item: unknown
  readonly key: unknown
}

function isAscending(items: readonly KeyedItem[], compare: (a: KeyedItem, b: KeyedItem) => number): boolean {
  for (let i = 1; i < items.length; i++) if (compare(items[i - 1] as KeyedItem, items[i] as KeyedItem) >= 0) return false
  return true
}

/** Throws unless every item can be told apart from the others. */
export function requireDistinct(list: ListTopology, items: readonly unknown[]): void {
  if (items.length < 2 || list.keys.length > 1) sortedItems(list, items)
  else {
    const seen = new Set<unknown>()
    for (const item of items) {
      const key = keyOf(list, item, 0)
      if (seen.has(key)) throw duplicate(elementOf(list, item))
      seen.add(key)
    }
  }
}

/** The items by their elements, in their order; throws unless they can be told apart. */
export function indexItems(list: ListTopology, items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const index = new Map<string, unknown>()
  for (const item of items) {
    const element = elementOf(list, item)
    if (index.has(element)) throw duplicate(element)
    index.set(element, item)
  }
  return index
}

const duplicate = (element: string): UnkeyedListError => new UnkeyedListError(`duplicate entries for key ${printElement(element)}`)
