// Lists in a strategic merge patch: items are matched by their merge key or, if they are scalars, by themselves. What the patch
// names stands in its order, what only the object has keeps its place between.

import { PatchError } from './patch-error.js'
import { isEqual, isRecord, own } from './plain.js'

type Items = readonly unknown[]
type Members = { readonly [name: string]: unknown }

/** How a list merges. */
export interface ListRule {
  readonly name: string
  /** Else the patch's list takes the place of the object's. */
  readonly merges: boolean
  /** The member that tells objects apart. */
  readonly key: string | undefined
  readonly mergeItem: (original: Members | undefined, patch: Members) => Members
  /** The same for an item that this patch has written already, which then is copied once more. */
  readonly mergeAgain: (original: Members | undefined, patch: Members) => Members
  /** How long a list is that is about to be merged. */
  readonly spend: (length: number) => void
}

export function mergeList(rule: ListRule, original: Items, patch: Items): Items {
  if (original.length === 0 && patch.length === 0) return original
  rule.spend(original.length)
  if (!haveObjects(original, patch)) return arranged(rule, { merged: distinct([...original, ...patch]), order: patch, original })
  const key = rule.key
  if (key === undefined) throw new PatchError('unprocessable', `the list ${rule.name} has no merge key`)
  const { base, items } = obeyDirectives(rule, original as readonly Members[], patch as readonly Members[])
  return arranged(rule, { merged: mergeItems({ ...rule, key }, base, items), order: items, original: base })
}

/** The list with the items of an order directive in that order. */
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
  return arranged(rule, { merged, order, original: original ?? [] })
}

/** For lists of scalars; what is an object cannot be named by its value. */
export function deleteValues(list: Items, values: Items): Items {
  const gone = new Set(values)
  return list.filter((item) => typeof item === 'object' || !gone.has(item))
}

/** Whether the lists hold objects; all items must be of one kind, and no lists. */
function haveObjects(original: Items, patch: Items): boolean {
  const kinds = new Set([...original, ...patch].map((item) => (Array.isArray(item) ? 'list' : item === null ? 'null' : typeof item)))
  if (kinds.has('list')) throw new PatchError('unprocessable', 'lists of lists are not supported')
  if (kinds.size > 1)
    throw new PatchError('unprocessable', `the elements of a list that merges must be of one kind, not ${[...kinds].join(' and ')}`)
  return kinds.has('object')
}

/** Of scalars of one type. */
const distinct = (items: Items): Items => [...new Set(items)]

/** Items that carry `$patch` delete their like, or say that the list replaces. */
function obeyDirectives(rule: ListRule, original: readonly Members[], patch: readonly Members[]) {
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
  const touched = new Set<number>()
  for (const item of patch) {
    const key = keyOf(rule, item)
    const position = positions.get(key)
    if (position === undefined) positions.set(key, merged.push(item) - 1)
    else if (position < original.length && !touched.has(position)) merged[position] = rule.mergeItem(merged[position], item)
    else merged[position] = rule.mergeAgain(merged[position], item)
    if (position !== undefined) touched.add(position)
  }
  return merged
}

function keyOf(rule: ListRule, item: unknown): unknown {
  const key = isRecord(item) ? own(item, rule.key ?? '') : undefined
  if (key === undefined)
    throw new PatchError('unprocessable', `an element of ${rule.name} does not contain declared merge key: ${rule.key}`)
  return key
}

/** What tells an item apart in an order. */
const identity = (rule: ListRule, item: unknown): unknown => (isRecord(item) ? own(item, rule.key ?? '') : item)

/** The items that the patch sets must stand in the order directive, in the same order. */
function requireOrder(rule: ListRule, patched: Items, order: Items): void {
  if (order.length === 0) return
  const wanted = patched.filter((item) => !isRecord(item) || own(item, '$patch') !== 'delete')
  let next = 0
  for (const item of order) if (next < wanted.length && isEqual(identity(rule, wanted[next]), identity(rule, item))) next++
  if (next < wanted.length)
    throw new PatchError('malformed', `the elements of ${rule.name} do not match the list $setElementOrder/${rule.name}`)
}

interface Arrangement {
  readonly merged: Items
  readonly order: Items
  readonly original: Items
}

/** Items of the order in its order; each item that only the object has before the first that followed it there. */
function arranged(rule: ListRule, { merged, order, original }: Arrangement): Items {
  const wanted = ranks(rule, order)
  const before = ranks(rule, original)
  const rankIn = (index: ReadonlyMap<unknown, number>, item: unknown): number => index.get(identity(rule, item)) ?? -1
  const ordered = merged.filter((item) => rankIn(wanted, item) >= 0).sort((a, b) => rankIn(wanted, a) - rankIn(wanted, b))
  const others = merged.filter((item) => rankIn(wanted, item) < 0).sort((a, b) => rankIn(before, a) - rankIn(before, b))
  const out: unknown[] = []
  let next = 0
  for (const item of ordered) {
    const rank = rankIn(before, item)
    while (next < others.length && rank >= 0 && isBefore(rankIn(before, others[next]), rank)) out.push(others[next++])
    out.push(item)
  }
  return [...out, ...others.slice(next)]
}

const isBefore = (rank: number, other: number): boolean => rank >= 0 && rank < other

function ranks(rule: ListRule, items: Items): ReadonlyMap<unknown, number> {
  const index = new Map<unknown, number>()
  items.forEach((item, i) => {
    const key = identity(rule, item)
    if (!index.has(key)) index.set(key, i)
  })
  return index
}
