// Own property of an object under a name from a client, so that `constructor` and `__proto__` find nothing.

export const own = <T>(members: { readonly [name: string]: T } | undefined, name: string): T | undefined =>
  members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
