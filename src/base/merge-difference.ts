// The merge patch that makes one object of another: what was changed, and nothing else.

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Undefined where they are the same. What is gone becomes null; a list that differs is sent whole. */
export function mergeDifference(before: unknown, after: unknown): unknown {
  if (!isMembers(before) || !isMembers(after)) return JSON.stringify(before) === JSON.stringify(after) ? undefined : (after ?? null)
  const changes: [string, unknown][] = []
  for (const name of Object.keys(before)) if (!Object.hasOwn(after, name)) changes.push([name, null])
  for (const [name, value] of Object.entries(after)) {
    const change = Object.hasOwn(before, name) ? mergeDifference(before[name], value) : value
    if (change !== undefined) changes.push([name, change])
  }
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}
