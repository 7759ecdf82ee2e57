// Several things that went wrong, in one text as the reference writes it.

import { listSome } from '../base/shorten.js'

/** Each once; several stand in brackets. Empty where nothing went wrong. */
export const aggregate = (problems: readonly string[]): string => aggregateSome(problems, 0)

/** The same of the first of them, and how many more there are. */
export function aggregateSome(problems: readonly string[], more: number): string {
  const distinct = [...new Set(problems)]
  return distinct.length > 1 || more > 0 ? `[${listSome(distinct, more)}]` : (distinct[0] ?? '')
}
