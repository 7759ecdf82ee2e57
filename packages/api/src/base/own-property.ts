// Own property of an object under a name from a client, so that `constructor` and `__proto__` find nothing.

export const own = <T>(members: { readonly [name: string]: T } | undefined, name: string): T | undefined =>
  members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined

/** A function that looks these members of its argument up finds own ones only. Costs nothing without names such as `constructor`. */
export const overOwn = <T>(names: readonly string[], read: (value: unknown) => T): ((value: unknown) => T) =>
  names.some((name) => name in Object.prototype) ? (value) => read(Object.assign(Object.create(null), value)) : read
