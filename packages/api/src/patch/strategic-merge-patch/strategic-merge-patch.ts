// Strategic merge patch: a merge patch that knows from the schema which lists merge by a key, and obeys directives in the patch.

import { resolve, type SchemaNode, type StructNode } from '../schema/node.js'
import { PatchError } from './patch-error.js'
import { isRecord, own, setOwn } from './plain.js'
import { deleteValues, type ListRule, mergeList, orderList } from './strategic-list.js'

type Members = { readonly [name: string]: unknown }
type Draft = { [name: string]: unknown }

const orderPrefix = '$setElementOrder'
const deletePrefix = '$deleteFromPrimitiveList'
const retainKeys = '$retainKeys'

/** Throws a PatchError where a directive is wrong or an item lacks its key. */
export function strategicMergePatch(document: object, patch: object, schema: StructNode): object {
  return mergeObject(document as Members, patch as Members, { node: schema, again: { allowance: againAllowance, depth: 0 } })
}

/**
 * What merging into the same items of lists again and again may copy, in members and items: a patch names an item once. Each time costs as much as
 * the item has by then, so that all of it is a few milliseconds at most.
 */
const againAllowance = 10_000

/** Where in the schema an object stands, and what may yet be copied. */
interface Place {
  readonly node: SchemaNode | undefined
  readonly again: Again
}

interface Again {
  allowance: number
  /** How many items around this one the patch has written already. */
  depth: number
}

function spend(again: Again, size: number): void {
  if (again.depth === 0) return
  again.allowance -= size
  if (again.allowance < 0) throw new PatchError('unprocessable', 'the patch merges into the same elements of lists too often')
}

/** How the member of a struct merges. */
interface MergeRule extends ListRule {
  readonly node: SchemaNode | undefined
  readonly replaces: boolean
}

function mergeObject(original: Members | undefined, patch: Members, place: Place): Members {
  if (Object.hasOwn(patch, '$patch')) return directed(patch)
  const out: Draft = { ...(original ?? {}) }
  if (place.again.depth > 0) spend(place.again, Object.keys(out).length)
  const rest: Draft = { ...patch }
  retain(out, rest)
  for (const name of Object.keys(rest)) if (name.startsWith(orderPrefix)) applyOrder(out, rest, { directive: name, place })
  for (const name of Object.keys(rest)) if (name.startsWith(deletePrefix)) applyDeletions(out, rest, name)
  for (const name of Object.keys(rest)) mergeMember(out, { name, value: own(rest, name), place })
  return out
}

function directed(patch: Members): Members {
  const { $patch: directive, ...rest } = patch
  if (directive === 'replace') return rest
  if (directive === 'delete') return {}
  throw new PatchError('malformed', `unknown patch type: ${String(directive)}`)
}

/** Keeps only the members that `$retainKeys` names; the patch may not set others. */
function retain(out: Draft, patch: Draft): void {
  if (!Object.hasOwn(patch, retainKeys)) return
  const keys = patch[retainKeys]
  delete patch[retainKeys]
  const isDirective = (name: string): boolean => name.startsWith(orderPrefix) || name.startsWith(deletePrefix)
  const names = new Set<unknown>(Array.isArray(keys) ? keys : [])
  if (!Array.isArray(keys) || Object.keys(patch).some((name) => patch[name] !== null && !isDirective(name) && !names.has(name)))
    throw new PatchError('malformed', 'invalid patch format of retainKeys')
  for (const name of Object.keys(out)) if (!names.has(name)) delete out[name]
}

/** Merges a list and puts it into the order that a directive gives. */
function applyOrder(out: Draft, patch: Draft, at: { readonly directive: string; readonly place: Place }): void {
  const name = directiveTarget(at.directive, orderPrefix, 'invalid patch format of setElementOrder list')
  const order = own(patch, at.directive)
  delete patch[at.directive]
  const rule = ruleOf(at.place, name)
  const original = own(out, name)
  const patched = own(patch, name)
  for (const list of [order, original, patched])
    if (list !== undefined && !Array.isArray(list)) throw new PatchError('malformed', `${orderPrefix}/${name}: expected a list`)
  if (original === undefined && patched === undefined) return
  setOwn(out, name, orderList(rule, { original, patched, order } as Parameters<typeof orderList>[1]))
  delete patch[name]
}

function applyDeletions(out: Draft, patch: Draft, directive: string): void {
  const name = directiveTarget(directive, deletePrefix, 'invalid patch format of primitive list')
  const values = own(patch, directive)
  delete patch[directive]
  const list = own(out, name)
  if (values === null) delete out[name]
  else if (!Array.isArray(values)) throw new PatchError('malformed', 'invalid patch format of primitive list')
  else if (Array.isArray(list)) setOwn(out, name, deleteValues(list, values))
}

function directiveTarget(directive: string, prefix: string, problem: string): string {
  if (!directive.startsWith(`${prefix}/`)) throw new PatchError('malformed', problem)
  return directive.slice(prefix.length + 1)
}

function mergeMember(out: Draft, { name, value, place }: { readonly name: string; readonly value: unknown; readonly place: Place }): void {
  if (value === null) {
    delete out[name]
    return
  }
  const original = own(out, name)
  if (typeof original !== 'object' || typeof value !== 'object') {
    setOwn(out, name, withoutNulls(value))
    return
  }
  const rule = ruleOf(place, name)
  if (isRecord(original) && isRecord(value))
    setOwn(out, name, rule.replaces ? value : mergeObject(original, value, { ...place, node: rule.node }))
  else if (Array.isArray(original) && Array.isArray(value)) setOwn(out, name, rule.merges ? mergeList(rule, original, value) : value)
  else setOwn(out, name, withoutNulls(value))
}

/** What is new has nothing that null could remove. */
function withoutNulls(value: unknown): unknown {
  if (!isRecord(value)) return value
  const out: Draft = {}
  for (const name in value) {
    const member = own(value, name)
    if (member !== null) setOwn(out, name, withoutNulls(member))
  }
  return out
}

function ruleOf({ node: parent, again }: Place, name: string): MergeRule {
  const outer = parent && resolve(parent)
  const field = outer?.type === 'struct' && Object.hasOwn(outer.fields, name) ? outer.fields[name] : undefined
  const beyond = outer?.type === 'map' ? outer.value : outer?.type === 'struct' ? outer.rest : undefined
  const inner = field === undefined ? beyond : field.node
  const node = inner && resolve(inner)
  const strategy = (node?.type === 'list' ? node.patchStrategy : undefined) ?? field?.patchStrategy
  const item: Place = { node: node?.type === 'list' ? node.item : undefined, again }
  const mergeItem: ListRule['mergeItem'] = (original, patch) => mergeObject(original, patch, item)
  return {
    name,
    node,
    merges: strategy === 'merge' || strategy === 'merge,retainKeys',
    replaces: strategy === 'replace',
    key: node?.type === 'list' ? node.patchMergeKey : undefined,
    mergeItem,
    mergeAgain: (original, patch) => {
      again.depth++
      const merged = mergeItem(original, patch)
      again.depth--
      return merged
    },
    spend: (length) => spend(again, length),
  }
}
