// `fieldsV1` as a client wrote it, made canonical: elements in their one form and order, kinds of element that are not known left out.

import { type FieldSet, leaf, nodeOf, nonEmpty, union } from './field-set.js'
import { canonicalElement, compareRanked, rankElement, self } from './path-element.js'
import { isRecord } from './plain.js'

/** The set, undefined inside if it is empty; undefined if the value is no set at all. */
export function readFieldsV1(value: unknown): { readonly set: FieldSet | undefined } | undefined {
  const node = value === undefined ? leaf : readNode(value, 0)
  return node && { set: nonEmpty(node) }
}

// No schema is nearly as deep, and a deeper set would exhaust the stack of whoever walks it.
const maxDepth = 256

function readNode(value: unknown, depth: number): FieldSet | undefined {
  if (!isRecord(value) || depth > maxDepth) return undefined
  const children = new Map<string, FieldSet>()
  let member = false
  for (const name in value) {
    if (name === self) {
      member = true
      continue
    }
    const element = canonicalElement(name)
    if (element === undefined) return undefined
    if (element === 'unknown') continue
    const node = readNode(value[name], depth + 1)
    if (node === undefined) return undefined
    children.set(element, union(children.get(element), node) ?? leaf)
  }
  const sorted = [...children].map(([element, node]) => ({ ...rankElement(element), node })).sort(compareRanked)
  return nodeOf(member || sorted.length === 0, sorted)
}
