// Identity of list items: their key fields, or the items themselves in sets.

import { writeAny, writeText } from '../../schema/json/write.js'
import type { ListKey, ListTopology } from '../../schema/topology.js'
import { isRecord, own } from '../json-value.js'
import { compareValues, memoizeText, printElement, valueElement } from './path-element.js'

/** List with duplicate items or items without keys: field managers cannot own such items. */
export class UnkeyedListError extends Error {
  override readonly name = 'UnkeyedListError'
}

function keyOf(list: ListTopology, item: unknown, position: number): unknown {
  const key = list.keys[position]
  if (key === undefined) return requireScalar(item)
  if (!isRecord(item))
    throw new UnkeyedListError(`associative list with keys may not have ${item === null ? 'a null element' : 'non-map elements'}`)
  const value = own(item, key.name)
  if (value !== undefined) return value
  if (key.fallback === undefined)
    throw new UnkeyedListError(
      `associative list with keys has an element that omits key field "${key.name}" (and doesn't have default value)`,
    )
  return key.fallback
}

function requireScalar(item: unknown): unknown {
  if (typeof item !== 'object') return item
  if (Array.isArray(item)) throw new UnkeyedListError('not supported: associative list with lists as elements')
  throw new UnkeyedListError(`associative list without keys has an element that's ${item === null ? 'an explicit null' : 'a map type'}`)
}

/** Path element of an item: `k:{"name":"a"}` or `v:"a"`. */
export function elementOf(list: ListTopology, item: unknown): string {
  const first = list.keys[0]
  if (first === undefined) return valueElement(requireScalar(item))
  const value = keyOf(list, item, 0)
  if (list.keys.length === 1 && typeof value === 'string') return textElement(first)(value)
  return `k:{${list.keys.map((key, i) => `"${key.name}":${writeAny(keyOf(list, item, i))}`).join(',')}}`
}

const textElements = new WeakMap<ListKey, (text: string) => string>()

function textElement(key: ListKey): (text: string) => string {
  let toElement = textElements.get(key)
  if (toElement === undefined) {
    toElement = memoizeText((text) => `k:{"${key.name}":${writeText(text)}}`)
    textElements.set(key, toElement)
  }
  return toElement
}

function isSameItem(list: ListTopology, a: unknown, b: unknown): boolean {
  if (keyOf(list, a, 0) !== keyOf(list, b, 0)) return false
  for (let i = 1; i < list.keys.length; i++) if (keyOf(list, a, i) !== keyOf(list, b, i)) return false
  return true
}

export function isSameOrder(list: ListTopology, a: readonly unknown[], b: readonly unknown[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!isSameItem(list, a[i], b[i])) return false
  return true
}

export function compareItems(list: ListTopology, a: unknown, b: unknown): number {
  let order = compareValues(keyOf(list, a, 0), keyOf(list, b, 0))
  for (let i = 1; order === 0 && i < list.keys.length; i++) order = compareValues(keyOf(list, a, i), keyOf(list, b, i))
  return order
}

/** Sorts in the order of managedFields. Throws UnkeyedListError for duplicates. */
export function sortedItems(list: ListTopology, items: readonly unknown[]): readonly unknown[] {
  const keyed = items.map((item) => ({ item, key: keyOf(list, item, 0) }))
  const compare = (a: KeyedItem, b: KeyedItem): number => compareValues(a.key, b.key) || compareItems(list, a.item, b.item)
  if (isAscending(keyed, compare)) return items
  keyed.sort(compare)
  for (let i = 1; i < keyed.length; i++)
    if (compare(keyed[i - 1] as KeyedItem, keyed[i] as KeyedItem) === 0) throw duplicateError(elementOf(list, keyed[i]?.item))
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

export function requireDistinct(list: ListTopology, items: readonly unknown[]): void {
  if (items.length < 2 || list.keys.length > 1) sortedItems(list, items)
  else {
    const seen = new Set<unknown>()
    for (const item of items) {
      const key = keyOf(list, item, 0)
      if (seen.has(key)) throw duplicateError(elementOf(list, item))
      seen.add(key)
    }
  }
}

/** Maps path elements to items. Throws UnkeyedListError for duplicates. */
export function indexItems(list: ListTopology, items: readonly unknown[]): ReadonlyMap<string, unknown> {
  const index = new Map<string, unknown>()
  for (const item of items) {
    const element = elementOf(list, item)
    if (index.has(element)) throw duplicateError(element)
    index.set(element, item)
  }
  return index
}

const duplicateError = (element: string): UnkeyedListError => new UnkeyedListError(`duplicate entries for key ${printElement(element)}`)
