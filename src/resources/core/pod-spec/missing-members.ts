// Filling in what was left out, without a copy where nothing was.

type Members = { readonly [name: string]: unknown }

/** The object with the members that it lacks; the same object where it lacks none. */
export function withMissing<T extends object>(object: T, defaults: Partial<T>): T {
  for (const name in defaults) {
    if ((object as Members)[name] === undefined) return filled(object, defaults)
  }
  return object
}

function filled<T extends object>(object: T, defaults: Partial<T>): T {
  const copy = { ...object } as Record<string, unknown>
  for (const name in defaults) copy[name] ??= defaults[name]
  return copy as T
}

/** The object with one member changed, where it has that member and the change makes a difference. */
export function withChanged<T extends object, Name extends keyof T>(
  object: T,
  name: Name,
  change: (value: NonNullable<T[Name]>) => NonNullable<T[Name]>,
): T {
  const value = object[name]
  if (value === undefined || value === null) return object
  const next = change(value as NonNullable<T[Name]>)
  return next === value ? object : { ...object, [name]: next }
}
