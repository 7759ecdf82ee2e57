// Differences between two versions of an object, field by field.

import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'

/** `before` is undefined for an added field, `after` for a removed one. */
export interface FieldChange {
  /** For example `spec.replicas`, `metadata.labels['shop.example.com/kind']` or `spec.containers[name=web].image`. */
  readonly path: string
  readonly before: unknown
  readonly after: unknown
}

/** Fields that the server changes with every write. */
const noise: ReadonlySet<string> = new Set(['metadata.managedFields', 'metadata.resourceVersion'])

/** Maps are compared by key, so that an added map shows each of its fields; lists by the name of their items, or else by index. */
export function fieldChanges(before: unknown, after: unknown): readonly FieldChange[] {
  const changes: FieldChange[] = []
  compare({ path: '', before, after }, changes)
  return changes
}

function compare(change: FieldChange, changes: FieldChange[]): void {
  const { path, before, after } = change
  if (Object.is(before, after) || noise.has(path)) return
  const parts = partsOf(before, after)
  if (parts === undefined) changes.push(change)
  else
    for (const [key, part] of parts)
      compare({ path: `${path}${path === '' && key.startsWith('.') ? key.slice(1) : key}`, ...part }, changes)
}

interface Part {
  readonly before: unknown
  readonly after: unknown
}

/** Undefined if the values are compared as a whole: other types than maps and lists, or an empty one that was added or removed. */
function partsOf(before: unknown, after: unknown): Iterable<readonly [string, Part]> | undefined {
  if (isRecord(before ?? after) && isRecord(after ?? before)) return joinParts({ before, after }, fieldsOf(before), fieldsOf(after))
  if (!Array.isArray(before ?? after) || !Array.isArray(after ?? before)) return undefined
  const [old, next] = [listOf(before), listOf(after)]
  const key = itemKeys.find((each) => isKeyedBy(each, old) && isKeyedBy(each, next))
  return joinParts({ before, after }, itemsOf(old, key), itemsOf(next, key))
}

type Parts = ReadonlyMap<string, unknown>

function joinParts(whole: Part, before: Parts, after: Parts): Iterable<readonly [string, Part]> | undefined {
  const keys = new Set([...before.keys(), ...after.keys()])
  if (keys.size === 0 && (whole.before === undefined || whole.after === undefined)) return undefined
  return Array.from(keys, (key) => [key, { before: before.get(key), after: after.get(key) }] as const)
}

const fieldsOf = (map: unknown): Parts =>
  new Map(Object.entries(map ?? {}).map(([name, value]) => [/^[A-Za-z_][\w-]*$/.test(name) ? `.${name}` : `['${name}']`, value]))

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Fields that name an item of a list, most usual first. */
const itemKeys = ['name', 'type', 'key', 'uid', 'id', 'ip'] as const

function isKeyedBy(key: string, list: readonly unknown[]): boolean {
  const names = new Set(list.map((item) => nameOf(item, key)))
  return names.size === list.length && !names.has(undefined)
}

function nameOf(item: unknown, key: string): string | undefined {
  const name: unknown = isRecord(item) ? item[key] : undefined
  return typeof name === 'string' ? name : undefined
}

const itemsOf = (list: readonly unknown[], key: string | undefined): Parts =>
  new Map(list.map((item, i) => [key === undefined ? `[${i}]` : `[${key}=${nameOf(item, key)}]`, item]))
