// Strategic merge patch: the schema says which lists merge by a key, and the patch may contain directives.

import { resolve, type SchemaNode, type StructNode } from '../../schema/node.js'
import { isRecord, own, setOwn, withoutNulls } from '../json-value.js'
import { PatchError } from '../patch-error.js'
import { deleteValues, type ListRule, mergeList, orderList } from './merge-list.js'

type Members = { readonly [name: string]: unknown }
type Draft = { [name: string]: unknown }

const orderPrefix = '$setElementOrder'
const deletePrefix = '$deleteFromPrimitiveList'
const retainKeys = '$retainKeys'

/** Throws PatchError for an invalid directive or a missing merge key. */
export function strategicMergePatch(document: object, patch: object, schema: StructNode): object {
  return mergeObject(document as Members, patch as Members, { node: schema, repeats: { allowance: maxRepeatedCopies, depth: 0 } })
}

/** Members and items that repeated merges into the same list items may copy: bounds the time of such patches. */
const maxRepeatedCopies = 10_000

interface MergeContext {
  readonly node: SchemaNode | undefined
  readonly repeats: RepeatedMerges
}

interface RepeatedMerges {
  allowance: number
  depth: number
}

function countCopies(repeats: RepeatedMerges, size: number): void {
  if (repeats.depth === 0) return
  repeats.allowance -= size
  if (repeats.allowance < 0) throw new PatchError('unprocessable', 'the patch merges into the same elements of lists too often')
}

interface MergeRule extends ListRule {
  readonly node: SchemaNode | undefined
  readonly replaces: boolean
}

function mergeObject(original: Members | undefined, patch: Members, context: MergeContext): Members {
  if (Object.hasOwn(patch, '$patch')) return applyPatchDirective(patch)
  const out: Draft = { ...(original ?? {}) }
  if (context.repeats.depth > 0) countCopies(context.repeats, Object.keys(out).length)
  const rest: Draft = { ...patch }
  retain(out, rest)
  for (const name of Object.keys(rest)) if (name.startsWith(orderPrefix)) applyOrder(out, rest, { directive: name, context })
  for (const name of Object.keys(rest)) if (name.startsWith(deletePrefix)) applyDeletions(out, rest, { directive: name, context })
  for (const name of Object.keys(rest)) mergeMember(out, { name, value: own(rest, name), context })
  return out
}

function applyPatchDirective(patch: Members): Members {
  const { $patch: directive, ...rest } = patch
  if (directive === 'replace') return rest
  if (directive === 'delete') return {}
  throw new PatchError('malformed', `unknown patch type: ${String(directive)}`)
}

/** `$retainKeys` lists the members to keep: removes all others, and the patch may set only listed members. */
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

/** Applies `$setElementOrder`: merges and sorts the list that the directive names. */
function applyOrder(out: Draft, patch: Draft, target: { readonly directive: string; readonly context: MergeContext }): void {
  const name = directiveTarget(target.directive, orderPrefix, 'invalid patch format of setElementOrder list')
  const order = own(patch, target.directive)
  delete patch[target.directive]
  const rule = ruleOf(target.context, name)
  // Null counts as absent, because JSON shows some absent lists as null.
  const original = own(out, name) ?? undefined
  const patched = own(patch, name)
  for (const list of [order, original, patched])
    if (list !== undefined && !Array.isArray(list)) throw new PatchError('malformed', `${orderPrefix}/${name}: expected a list`)
  if (original === undefined && patched === undefined) return
  setOwn(out, name, orderList(rule, { original, patched, order } as Parameters<typeof orderList>[1]))
  delete patch[name]
}

function applyDeletions(out: Draft, patch: Draft, target: { readonly directive: string; readonly context: MergeContext }): void {
  const name = directiveTarget(target.directive, deletePrefix, 'invalid patch format of primitive list')
  const values = own(patch, target.directive)
  delete patch[target.directive]
  const list = own(out, name)
  if (values === null) delete out[name]
  else if (!Array.isArray(values)) throw new PatchError('malformed', 'invalid patch format of primitive list')
  else if (Array.isArray(list)) setOwn(out, name, deleteValues(ruleOf(target.context, name), list, values))
}

function directiveTarget(directive: string, prefix: string, problem: string): string {
  if (!directive.startsWith(`${prefix}/`)) throw new PatchError('malformed', problem)
  return directive.slice(prefix.length + 1)
}

function mergeMember(
  out: Draft,
  { name, value, context }: { readonly name: string; readonly value: unknown; readonly context: MergeContext },
): void {
  if (value === null) {
    delete out[name]
    return
  }
  const original = own(out, name)
  if (typeof original !== 'object' || typeof value !== 'object') {
    setOwn(out, name, withoutNulls(value))
    return
  }
  const rule = ruleOf(context, name)
  if (isRecord(original) && isRecord(value))
    setOwn(out, name, rule.replaces ? value : mergeObject(original, value, { ...context, node: rule.node }))
  else if (Array.isArray(original) && Array.isArray(value)) setOwn(out, name, rule.merges ? mergeList(rule, original, value) : value)
  else setOwn(out, name, withoutNulls(value))
}

function ruleOf({ node: parent, repeats }: MergeContext, name: string): MergeRule {
  const outer = parent && resolve(parent)
  const field = outer?.type === 'struct' && Object.hasOwn(outer.fields, name) ? outer.fields[name] : undefined
  const restNode = outer?.type === 'map' ? outer.value : outer?.type === 'struct' ? outer.rest : undefined
  const inner = field === undefined ? restNode : field.node
  const node = inner && resolve(inner)
  const strategy = (node?.type === 'list' ? node.patchStrategy : undefined) ?? field?.patchStrategy
  const item: MergeContext = { node: node?.type === 'list' ? node.item : undefined, repeats }
  const mergeItem: ListRule['mergeItem'] = (original, patch) => mergeObject(original, patch, item)
  return {
    name,
    node,
    merges: strategy === 'merge' || strategy === 'merge,retainKeys',
    replaces: strategy === 'replace',
    key: node?.type === 'list' ? node.patchMergeKey : undefined,
    mergeItem,
    mergeRepeated: (original, patch) => {
      repeats.depth++
      const merged = mergeItem(original, patch)
      repeats.depth--
      return merged
    },
    countCopies: (length) => countCopies(repeats, length),
  }
}
