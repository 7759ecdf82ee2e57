// Where a value lies, as errors about it say: below a field of an object, and at a path within that field.

import type { Strain } from '../../../base/weight.js'

export interface ValuePlace {
  /** The field that was handed in as a whole; empty where that is the object itself. */
  readonly base: string
  /** The way from there, which messages repeat. */
  readonly path: string
  /** Of looking for patterns in all values of the object. */
  readonly strain?: Strain | undefined
}

export const fieldOf = ({ base, path }: ValuePlace): string => (path === '' ? base : base === '' ? path : `${base}.${path}`)
