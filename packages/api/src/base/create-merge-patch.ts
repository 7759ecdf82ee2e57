// Creates the JSON merge patch (RFC 7396) that turns one object into another.

type JsonObject = { readonly [name: string]: unknown }

const isJsonObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value)

export function isSameJson(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, i) => isSameJson(item, other[i]))
  if (!isJsonObject(one) || !isJsonObject(other)) return one === other
  const names = Object.keys(one)
  return (
    names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && isSameJson(one[name], other[name]))
  )
}

/** Returns undefined if both are equal. Numbers may be bigints. */
export function createMergePatch(before: unknown, after: unknown): unknown {
  if (!isJsonObject(before) || !isJsonObject(after)) return isSameJson(before, after) ? undefined : (after ?? null)
  const changes: [string, unknown][] = []
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) changes.push([name, null])
  for (const [name, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, name) ? createMergePatch(before[name], value) : value
    if (change !== undefined) changes.push([name, change])
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}
