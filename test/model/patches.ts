// Merge patch, JSON patch and apply on JSON values, written for the API model without code of the server.

import { fieldSchema, isAtomicMap, keysOf, listType, type Schema } from './schema.js'
import { canonical, type Fields, isEqual, isFields, isList, mapFields, type Value } from './values.js'

/** Removes null members of all objects inside a value that a merge patch writes; null elements of lists stay. */
function withoutNulls(value: Value): Value {
  if (isList(value)) return value.map(withoutNulls)
  return isFields(value) ? mapFields(value, (member) => (member === null ? undefined : withoutNulls(member))) : value
}

export function mergePatch(target: Value | undefined, patch: Value): Value {
  if (!isFields(patch)) return withoutNulls(patch)
  if (!isFields(target)) return withoutNulls(patch)
  const merged: Record<string, Value> = { ...target }
  for (const [name, change] of Object.entries(patch)) {
    if (change === null) delete merged[name]
    else merged[name] = mergePatch(merged[name], change)
  }
  return merged
}

export interface Operation {
  readonly op: 'add' | 'remove' | 'replace' | 'test'
  readonly path: string
  readonly value?: Value
}

/** Applies a JSON patch; undefined if an operation fails. */
export function jsonPatch(target: Fields, operations: readonly Operation[]): Fields | undefined {
  let patched: Value | undefined = target
  for (const operation of operations) {
    patched = operate(patched, operation.path.split('/').slice(1), operation)
    if (patched === undefined) return undefined
  }
  return isFields(patched) ? patched : undefined
}

function operate(target: Value | undefined, path: readonly string[], operation: Operation): Value | undefined {
  const [name = '', ...rest] = path
  if (isList(target)) {
    const index = name === '-' ? target.length : Number(name)
    if (rest.length === 0 && operation.op === 'add')
      return index > target.length ? undefined : target.toSpliced(index, 0, operation.value ?? null)
    const current = target[index]
    if (current === undefined) return undefined
    if (rest.length === 0 && operation.op === 'remove') return target.toSpliced(index, 1)
    const changed = rest.length === 0 ? leafAfter(current, operation) : operate(current, rest, operation)
    return changed === undefined ? undefined : target.with(index, changed)
  }
  if (!isFields(target)) return undefined
  const current = target[name]
  // kube-apiserver lets `replace` add a member that is missing.
  const isWrite = operation.op === 'add' || operation.op === 'replace'
  if (rest.length === 0 && isWrite) return { ...target, [name]: operation.value ?? null }
  if (current === undefined) return undefined
  if (rest.length === 0 && operation.op === 'remove') return mapFields(target, (value, key) => (key === name ? undefined : value))
  const changed = rest.length === 0 ? leafAfter(current, operation) : operate(current, rest, operation)
  return changed === undefined ? undefined : { ...target, [name]: changed }
}

/** The value after `replace` or `test`. */
function leafAfter(current: Value, { op, value = null }: Operation): Value | undefined {
  if (op === 'test') return isEqual(current, value) ? current : undefined
  return value
}

const elementKey = (schema: Schema, item: Value): string => canonical(listType(schema) === 'map' ? keysOf(schema, item) : item)

/** Merges an applied configuration into the live object: granular objects and lists by element, all else replaced. */
export function mergeApplied(schema: Schema | undefined, live: Value | undefined, applied: Value): Value {
  if (isFields(live) && isFields(applied) && !isAtomicMap(schema)) {
    const merged: Record<string, Value> = { ...live }
    for (const [name, value] of Object.entries(applied)) merged[name] = mergeApplied(fieldSchema(schema, name), live[name], value)
    return merged
  }
  if (!isList(live) || !isList(applied) || schema === undefined || listType(schema) === 'atomic') return applied
  return mergeElements(schema, live, applied)
}

/** Elements of the configuration keep its order; other elements stay before the shared element that follows them in the live list. */
function mergeElements(schema: Schema, live: readonly Value[], applied: readonly Value[]): readonly Value[] {
  const current = new Map(live.map((item) => [elementKey(schema, item), item]))
  const appliedKeys = applied.map((item) => elementKey(schema, item))
  const merged: Value[] = []
  let next = 0
  const takeUpTo = (end: number): void => {
    for (; next < end; next++) merged.push(mergeApplied(schema.items, current.get(appliedKeys[next] ?? ''), applied[next] ?? null))
  }
  for (const [key, item] of current) {
    const nextShared = appliedKeys.findIndex((each, i) => i >= next && current.has(each))
    if (!appliedKeys.includes(key)) merged.push(item)
    else if (appliedKeys[nextShared] === key) takeUpTo(nextShared + 1)
  }
  takeUpTo(applied.length)
  return merged
}

/** Removes the paths of a field set from an object. Objects and lists that lose all members become null. */
export function removePaths(schema: Schema | undefined, value: Value, paths: ReadonlySet<string>, path = ''): Value | undefined {
  if (path !== '' && paths.has(path)) return undefined
  const at = (segment: string): string => (path === '' ? segment : `${path} ${segment}`)
  if (isFields(value)) {
    const kept = mapFields(value, (member, name) => removePaths(fieldSchema(schema, name), member, paths, at(`f:${name}`)))
    return Object.keys(kept).length === 0 && Object.keys(value).length > 0 && path !== '' ? null : kept
  }
  if (!isList(value) || schema === undefined || listType(schema) === 'atomic') return value
  const segment = listType(schema) === 'map' ? 'k' : 'v'
  const kept = value.flatMap((item) => {
    const left = removePaths(schema.items, item, paths, at(`${segment}:${elementKey(schema, item)}`))
    return left === undefined ? [] : [left]
  })
  return kept.length === 0 && value.length > 0 ? null : kept
}
