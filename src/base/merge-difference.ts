// The merge patch that makes one object of another: what was changed, and nothing else.

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Numbers may be bigints, which JSON cannot say. */
function isSame(one: unknown, other: unknown): boolean {
  if (Array.isArray(one)) return Array.isArray(other) && one.length === other.length && one.every((item, i) => isSame(item, other[i]))
  if (!isMembers(one) || !isMembers(other)) return one === other
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((name) => Object.hasOwn(other, name) && isSame(one[name], other[name]))
}

/** Undefined where they are the same. What is gone becomes null; a list that differs is sent whole. */
export function mergeDifference(before: unknown, after: unknown): unknown {
  if (!isMembers(before) || !isMembers(after)) return isSame(before, after) ? undefined : (after ?? null)
  const changes: [string, unknown][] = []
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) changes.push([name, null])
  for (const [name, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, name) ? mergeDifference(before[name], value) : value
    if (change !== undefined) changes.push([name, change])
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}
