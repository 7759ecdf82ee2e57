// Plain JSON values as they are: reading and writing members whatever their names are, equality, copies.

export const isRecord = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const prototype: unknown = Object.prototype

/**
 * A member of the object itself: every plain object would answer to `constructor` and `__proto__`. What it answers then is never
 * JSON, and to look at that is much quicker than to ask whose the member is.
 */
export function own(object: { readonly [name: string]: unknown }, name: string): unknown {
  const value = object[name]
  return typeof value === 'function' || value === prototype ? undefined : value
}

/** Sets a member whatever its name is: `__proto__` is a name like any other. */
export function setOwn(target: { [name: string]: unknown }, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
  else target[name] = value
}

/** Whether two JSON values are the same; a member that is undefined is not there. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return isEqualScalar(a, b)
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
  return !Array.isArray(b) && isEqualRecord(a as { [name: string]: unknown }, b as { [name: string]: unknown })
}

/** Great integers may be bigints on one side. */
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

/** A copy that shares nothing. */
export function cloneJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map(cloneJson) as T
  if (!isRecord(value)) return value
  const out: { [name: string]: unknown } = {}
  for (const name in value) setOwn(out, name, cloneJson(value[name]))
  return out as T
}
