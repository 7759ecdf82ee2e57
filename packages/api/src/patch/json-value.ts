// JSON values in patches: members of any name, equality, copies, and members as the Go types serialize them.

import type { FieldTopology } from '../schema/topology.js'

export const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const prototype: unknown = Object.prototype

/** Own member or undefined. Inherited values are functions or Object.prototype, not JSON; testing for them is faster than hasOwn. */
export function own(object: { readonly [name: string]: unknown }, name: string): unknown {
  const value = object[name]
  return typeof value === 'function' || value === prototype ? undefined : value
}

/** Assigns `__proto__` like any other name. */
export function setOwn(target: { [name: string]: unknown }, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}

/** Deep equality. Undefined members count as absent. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEqualScalar(a, b)
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
  return !Array.isArray(b) && isEqualRecord(a as { [name: string]: unknown }, b as { [name: string]: unknown })
}

/** Equality of a bigint and a number: large integers may be bigints on one side only. */
const isEqualScalar = (a: unknown, b: unknown): boolean =>
  (typeof a === 'bigint' && typeof b === 'number' && a === BigInt(Number.isInteger(b) ? b : 0) && Number.isInteger(b)) ||
  (typeof b === 'bigint' && typeof a === 'number' && isEqualScalar(b, a))

function isEqualRecord(a: { readonly [name: string]: unknown }, b: { readonly [name: string]: unknown }): boolean {
  let count = 0
  for (const name in a) {
    const value = a[name]
    if (value === undefined) continue
    count++
    if (!isEqual(value, own(b, name))) return false
  }
  for (const name in b) if (b[name] !== undefined) count--
  return count === 0
}

export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (!isRecord(value)) return value
  const out: { [name: string]: unknown } = {}
  for (const name in value) setOwn(out, name, cloneJson(value[name]))
  return out as T
}

/** Drops null members of objects, also of objects in lists; null items stay. */
export function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (!isRecord(value)) return value
  const out: { [name: string]: unknown } = {}
  for (const name in value) if (value[name] !== null) setOwn(out, name, withoutNulls(value[name]))
  return out
}

export type Members = { readonly [name: string]: unknown }

export type ReadMember = (field: FieldTopology, object: Members) => unknown

/** Member as the Go type serializes it: if absent, the value that Go writes (`implied`); undefined if zero and omitted. */
export const serializedMember: ReadMember = (field, object) => {
  const value = own(object, field.name)
  if (value === undefined || (value === null && field.implied !== undefined)) return field.implied
  return field.omitsZero && isZero(value) ? undefined : value
}

/** Member as sent, even if zero; if absent, the value that Go writes for an unset field (`implied`). */
export const sentMember: ReadMember = (field, object) => {
  const value = own(object, field.name)
  return value === undefined ? field.implied : value
}

function isZero(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null || value === 0n) return true
  return Array.isArray(value) ? value.length === 0 : isRecord(value) && isEmptyObject(value)
}

export function isEmptyObject(value: object): boolean {
  for (const _ in value) return false
  return true
}
