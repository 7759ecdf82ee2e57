// Marks of empty lists and maps that a client sent: they are stored like absent ones, but some validation of kube-apiserver differs.

import { weakMemoize } from '../../base/recent-map.js'
import { isLoose, resolve, type SchemaNode, type StructNode } from '../node.js'

const names = Symbol('sent empty')

interface Marked {
  [names]?: readonly string[]
}

/** Stores the name under a symbol: spreads copy it, encoders and comparisons ignore it. */
export function markSentEmpty(struct: object, name: string): void {
  const marked = struct as Marked
  marked[names] = [...(marked[names] ?? []), name]
}

export const isSentEmpty = (struct: object | undefined, name: string): boolean =>
  struct !== undefined && (struct as Marked)[names]?.includes(name) === true

/** Names of the members that were sent empty. */
export const sentEmptyNames = (struct: object): readonly string[] => (struct as Marked)[names] ?? []

/** True if the value or anything in it has a mark. */
export function hasSentEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ((value as Marked)[names] !== undefined) return true
  for (const name in value) if (hasSentEmpty((value as { readonly [name: string]: unknown })[name])) return true
  return false
}

/** Marks of a value and of the values in it, by name or index. A copy of the value by JSON has none of them. */
export interface SentEmpty {
  readonly names: readonly string[] | undefined
  readonly inner: ReadonlyMap<string, SentEmpty> | undefined
}

type Values = { readonly [name: string]: unknown }

/** Returns undefined without marks. Visits only structs of built-in types, because most of a large object are scalars. */
export function collectSentEmpty(schema: SchemaNode, value: unknown): SentEmpty | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const node = resolve(schema)
  let inner: Map<string, SentEmpty> | undefined
  if (node.type === 'struct') {
    for (const [name, field] of fieldsWithStructs(node)) inner = withMarks(inner, name, field, (value as Values)[name])
  } else if (node.type === 'list' && Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) inner = withMarks(inner, i, node.item, value[i])
  } else if (node.type === 'map') {
    for (const name of Object.keys(value)) inner = withMarks(inner, name, node.value, (value as Values)[name])
  }
  const marked = (value as Marked)[names]
  return marked === undefined && inner === undefined ? undefined : { names: marked, inner }
}

function withMarks(all: Map<string, SentEmpty> | undefined, name: string | number, schema: SchemaNode, value: unknown) {
  const found = value === undefined ? undefined : collectSentEmpty(schema, value)
  return found === undefined ? all : (all ?? new Map<string, SentEmpty>()).set(String(name), found)
}

const fieldsWithStructs = weakMemoize(({ fields }: StructNode) =>
  Object.entries(fields).flatMap(([name, { node }]) => (hasStructs(node) ? [[name, node] as const] : [])),
)

/** True if a value is a struct that can have marks, or a list or map of such structs. */
function hasStructs(schema: SchemaNode): boolean {
  const node = resolve(schema)
  if (isLoose(node)) return false
  return node.type === 'struct' || (node.type === 'list' && hasStructs(node.item)) || (node.type === 'map' && hasStructs(node.value))
}

/** Marks a copy of the value that the marks were collected from. */
export function restoreSentEmpty(value: unknown, marks: SentEmpty): void {
  if (marks.names !== undefined) (value as Marked)[names] = marks.names
  for (const [name, inner] of marks.inner ?? []) restoreSentEmpty((value as Values)[name], inner)
}
