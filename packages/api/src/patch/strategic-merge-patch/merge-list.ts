// Lists in strategic merge patches: items match by merge key, scalars by value; patched items keep the order of the patch.

import { isEqual, isRecord, own } from '../json-value.js'
import { PatchError } from '../patch-error.js'

type Items = readonly unknown[]
type Members = { readonly [name: string]: unknown }

export interface ListRule {
  readonly name: string
  /** False: the patch replaces the list. */
  readonly merges: boolean
  readonly key: string | undefined
  readonly mergeItem: (original: Members | undefined, patch: Members) => Members
  /** Merges into an item that this patch has already merged into. */
  readonly mergeRepeated: (original: Members | undefined, patch: Members) => Members
  /** Counts items that a repeated merge copies. */
  readonly countCopies: (length: number) => void
}

export function mergeList(rule: ListRule, original: Items, patch: Items): Items {
  if (original.length === 0 && patch.length === 0) return original
  rule.countCopies(original.length)
  if (!haveObjects(original, patch)) return orderItems(rule, { merged: distinct([...original, ...patch]), order: patch, original })
  const key = rule.key
  if (key === undefined) throw new PatchError('unprocessable', `the list ${rule.name} has no merge key`)
  const { base, items } = applyDirectives(rule, original as readonly Members[], patch as readonly Members[])
  return orderItems(rule, { merged: mergeItems({ ...rule, key }, base, items), order: items, original: base })
}

/** `$setElementOrder`: merges the patched items into a list and sorts it. */
export function orderList(
  rule: ListRule,
  lists: { readonly original: Items | undefined; readonly patched: Items | undefined; readonly order: Items },
): Items {
  const { original, patched, order } = lists
  requireOrder(rule, patched ?? [], order)
  const merged =
    original === undefined || patched === undefined
      ? (original ?? patched ?? [])
      : rule.merges
        ? mergeList(rule, original, patched)
        : patched
  return orderItems(rule, { merged, order, original: original ?? [] })
}

/** `$deleteFromPrimitiveList` removes scalars. As in kube-apiserver, objects merge, and a list that does not merge is replaced. */
export function deleteValues(rule: ListRule, list: Items, values: Items): Items {
  if (!rule.merges) return values
  if (haveObjects(list, values)) return mergeList(rule, list, values)
  const deleted = new Set(values)
  return list.filter((item) => !deleted.has(item))
}

function haveObjects(original: Items, patch: Items): boolean {
  const kinds = new Set([...original, ...patch].map((item) => (Array.isArray(item) ? 'list' : item === null ? 'null' : typeof item)))
  if (kinds.has('list')) throw new PatchError('unprocessable', 'lists of lists are not supported')
  if (kinds.size > 1)
    throw new PatchError('unprocessable', `the elements of a list that merges must be of one kind, not ${[...kinds].join(' and ')}`)
  return kinds.has('object')
}

const distinct = (items: Items): Items => [...new Set(items)]

/** Items with `$patch` delete an item, or replace the list. */
function applyDirectives(rule: ListRule, original: readonly Members[], patch: readonly Members[]) {
  const items = patch.filter((item) => !Object.hasOwn(item, '$patch'))
  const deleted = new Set<unknown>()
  let replaces = false
  for (const item of patch) {
    const directive = own(item, '$patch')
    if (directive === 'replace') replaces = true
    else if (directive === 'delete') deleted.add(keyOf(rule, item))
    else if (directive !== undefined) throw new PatchError('malformed', `unknown patch type: ${String(directive)}`)
  }
  if (replaces) return { base: items, items: [] }
  return { base: deleted.size === 0 ? original : original.filter((item) => !deleted.has(own(item, rule.key ?? ''))), items }
}

function mergeItems(rule: ListRule & { readonly key: string }, original: readonly Members[], patch: readonly Members[]): Items {
  const merged = [...original]
  const positions = new Map<unknown, number>()
  merged.forEach((item, i) => {
    const key = own(item, rule.key)
    if (!positions.has(key)) positions.set(key, i)
  })
  const mergedPositions = new Set<number>()
  for (const item of patch) {
    const key = keyOf(rule, item)
    const position = positions.get(key)
    if (position === undefined) positions.set(key, merged.push(item) - 1)
    else if (position < original.length && !mergedPositions.has(position)) merged[position] = rule.mergeItem(merged[position], item)
    else merged[position] = rule.mergeRepeated(merged[position], item)
    if (position !== undefined) mergedPositions.add(position)
  }
  return merged
}

function keyOf(rule: ListRule, item: unknown): unknown {
  const key = isRecord(item) ? own(item, rule.key ?? '') : undefined
  if (key === undefined)
    throw new PatchError('unprocessable', `an element of ${rule.name} does not contain declared merge key: ${rule.key}`)
  return key
}

const keyOrValue = (rule: ListRule, item: unknown): unknown => (isRecord(item) ? own(item, rule.key ?? '') : item)

/** Patched items must occur in `$setElementOrder`, in the same order. */
function requireOrder(rule: ListRule, patched: Items, order: Items): void {
  if (order.length === 0) return
  const items = patched.filter((item) => !isRecord(item) || own(item, '$patch') !== 'delete')
  let next = 0
  for (const item of order) if (next < items.length && isEqual(keyOrValue(rule, items[next]), keyOrValue(rule, item))) next++
  if (next < items.length)
    throw new PatchError('malformed', `the elements of ${rule.name} do not match the list $setElementOrder/${rule.name}`)
}

interface ItemOrder {
  readonly merged: Items
  readonly order: Items
  readonly original: Items
}

/** Sorts items of the patch by `order`; other items stay before the item that they preceded in the object. */
function orderItems(rule: ListRule, { merged, order, original }: ItemOrder): Items {
  for (const items of [merged, order, original]) requireKeys(rule, items)
  const orderRanks = ranks(rule, order)
  const originalRanks = ranks(rule, original)
  const rankIn = (index: ReadonlyMap<unknown, number>, item: unknown): number => index.get(keyOrValue(rule, item)) ?? -1
  const ordered = merged.filter((item) => rankIn(orderRanks, item) >= 0).sort((a, b) => rankIn(orderRanks, a) - rankIn(orderRanks, b))
  const others = merged.filter((item) => rankIn(orderRanks, item) < 0).sort((a, b) => rankIn(originalRanks, a) - rankIn(originalRanks, b))
  const out: unknown[] = []
  let next = 0
  for (const item of ordered) {
    const rank = rankIn(originalRanks, item)
    while (next < others.length && rank >= 0 && isBefore(rankIn(originalRanks, others[next]), rank)) out.push(others[next++])
    out.push(item)
  }
  return [...out, ...others.slice(next)]
}

/** Requires the merge key in every item. Objects in a list without a merge key cannot be ordered. */
function requireKeys(rule: ListRule, items: Items): void {
  if (rule.key !== undefined) for (const item of items) keyOf(rule, item)
  else if (items.some((item) => typeof item === 'object' && item !== null))
    throw new PatchError('unprocessable', `the list ${rule.name} has no merge key`)
}

const isBefore = (rank: number, other: number): boolean => rank >= 0 && rank < other

function ranks(rule: ListRule, items: Items): ReadonlyMap<unknown, number> {
  const index = new Map<unknown, number>()
  items.forEach((item, i) => {
    const key = keyOrValue(rule, item)
    if (!index.has(key)) index.set(key, i)
  })
  return index
}
