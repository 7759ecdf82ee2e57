// Where a value lies, as errors about it say: below a field of an object, and at a path within that field.

export interface ValuePlace {
  /** The field that was handed in as a whole; empty where that is the object itself. */
  readonly base: string
  /** The way from there, which messages repeat. */
  readonly path: string
}

export const fieldOf = ({ base, path }: ValuePlace): string => (path === '' ? base : base === '' ? path : `${base}.${path}`)
