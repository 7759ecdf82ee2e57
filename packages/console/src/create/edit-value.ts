// Changes of one field of a JSON value, by path. The value itself stays as it is.

export type Path = readonly (string | number)[]

type Members = { readonly [name: string]: unknown }

const isMembers = (value: unknown): value is Members => typeof value === 'object' && value !== null && !Array.isArray(value)

export function valueAt(value: unknown, path: Path): unknown {
  let found = value
  for (const step of path) {
    if (typeof step === 'number') found = Array.isArray(found) ? (found as readonly unknown[])[step] : undefined
    else found = isMembers(found) && Object.hasOwn(found, step) ? found[step] : undefined
  }
  return found
}

/** Creates the lists and objects around the field if they are missing. */
export function withValue(value: unknown, path: Path, next: unknown): unknown {
  const [step, ...rest] = path
  if (step === undefined) return next
  if (typeof step === 'number') {
    const items = Array.isArray(value) ? [...(value as readonly unknown[])] : []
    items[step] = withValue(items[step], rest, next)
    return items
  }
  const entries = isMembers(value) ? Object.entries(value) : []
  const at = entries.findIndex(([name]) => name === step)
  const changed = [step, withValue(entries[at]?.[1], rest, next)] as const
  // fromEntries, because `__proto__` is a name as any other.
  return Object.fromEntries(at < 0 ? [...entries, changed] : entries.with(at, [...changed]))
}

/** Without a member of an object or an item of a list. */
export function withoutValue(value: unknown, path: Path): unknown {
  const [step, ...rest] = path
  if (step === undefined) return undefined
  if (rest.length > 0)
    return valueAt(value, [step]) === undefined ? value : withValue(value, [step], withoutValue(valueAt(value, [step]), rest))
  if (typeof step === 'number') return Array.isArray(value) ? (value as readonly unknown[]).filter((_, i) => i !== step) : value
  return isMembers(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => name !== step)) : value
}

/** Keeps the place of the member. */
export function withKey(value: unknown, path: Path, from: string, to: string): unknown {
  const members = valueAt(value, path)
  if (!isMembers(members) || (from !== to && Object.hasOwn(members, to))) return value
  const renamed = Object.entries(members).map(([name, member]) => [name === from ? to : name, member] as const)
  return withValue(value, path, Object.fromEntries(renamed))
}
