// Field sets: the paths of an object as managedFields name them, and their changes by updates and applies.

import { fieldSchema, isAtomicMap, keysOf, listType, type Schema } from './schema.js'
import { canonical, type Fields, isFields, isList, printValue, type Value } from './values.js'

/** Path segments as in FieldsV1 (`f:name`, `k:{…}`, `v:…`), joined by a space. */
export type FieldSet = ReadonlySet<string>

interface Visit {
  readonly path: string
  readonly value: Value
  /** The value cannot be divided: a scalar, null, an atomic list. */
  readonly isLeaf: boolean
  /** A member of a map, or an element of a list of type map: owned as a whole too. */
  readonly isElement: boolean
}

function* visit(schema: Schema | undefined, value: Value, path: string, isElement: boolean): Generator<Visit> {
  const isGranularList = isList(value) && listType(schema) !== 'atomic'
  const isGranularMap = isFields(value) && !isAtomicMap(schema)
  const isLeaf = !isGranularMap && !isGranularList
  if (path !== '') yield { path, value, isLeaf, isElement }
  const at = (segment: string): string => (path === '' ? segment : `${path} ${segment}`)
  if (isGranularMap)
    for (const [name, member] of Object.entries(value)) {
      const isKnown = schema?.properties?.[name] !== undefined
      yield* visit(fieldSchema(schema, name), member, at(`f:${name}`), !isKnown)
    }
  if (isGranularList && schema !== undefined)
    for (const item of value) {
      const isMap = listType(schema) === 'map'
      yield* visit(schema.items, item, at(isMap ? `k:${canonical(keysOf(schema, item))}` : `v:${printValue(item)}`), isMap)
    }
}

const objectVisits = (schema: Schema, object: Fields): Visit[] => [...visit(schema, object, '', false)]

/** Paths that an applied configuration owns: leaves, elements and empty objects. */
export function appliedSet(schema: Schema, object: Fields): Set<string> {
  const visits = objectVisits(schema, object)
  const isOwned = ({ value, isLeaf, isElement }: Visit): boolean =>
    isLeaf || isElement || (isFields(value) && Object.keys(value).length === 0)
  return new Set(visits.filter(isOwned).map(({ path }) => path))
}

interface Comparison {
  readonly added: FieldSet
  readonly modified: FieldSet
  readonly removed: FieldSet
}

/** Compares two objects path by path, containers included. */
export function compare(schema: Schema, before: Fields, after: Fields): Comparison {
  const [old, now] = [before, after].map((object) => new Map(objectVisits(schema, object).map((each) => [each.path, each])))
  const [added, modified, removed] = [new Set<string>(), new Set<string>(), new Set<string>()]
  for (const [path, { value, isLeaf }] of now ?? []) {
    const previous = old?.get(path)
    if (previous === undefined) added.add(path)
    else if ((isLeaf || previous.isLeaf) && canonical(previous.value) !== canonical(value)) modified.add(path)
  }
  for (const path of old?.keys() ?? []) if (now?.has(path) === false) removed.add(path)
  return { added, modified, removed }
}

/** Paths of FieldsV1. */
export function fieldSetOf(fields: Fields, path = ''): Set<string> {
  const paths = new Set<string>()
  for (const [segment, below] of Object.entries(fields)) {
    const child = path === '' ? segment : `${path} ${segment}`
    if (segment === '.') paths.add(path)
    else if (isFields(below) && Object.keys(below).length > 0) for (const each of fieldSetOf(below, child)) paths.add(each)
    else paths.add(child)
  }
  return paths
}

export const difference = (a: FieldSet, b: FieldSet): Set<string> => new Set([...a].filter((path) => !b.has(path)))
