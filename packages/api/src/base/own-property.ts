// What an object says itself under a name that a client chose: `constructor` and the like are no answer.

export const own = <T>(members: { readonly [name: string]: T } | undefined, name: string): T | undefined =>
  members !== undefined && Object.hasOwn(members, name) ? members[name] : undefined
