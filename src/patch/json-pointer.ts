// JSON pointers (RFC 6901) into plain values.

import { maxJsonDepth } from '../schema/json-parse.js'

/** A pointer with more steps leads nowhere in any document, and neither does its beginning. */
const mostSteps = maxJsonDepth + 2

/**
 * The steps of a pointer; the empty pointer has none and means the whole document. What stands before the first slash is not
 * looked at, as the reference does it: `data/b` is `/b`. Undefined for a text that is no pointer.
 */
export function readPointer(text: string): readonly string[] | undefined {
  if (text === '') return []
  const steps = text.split('/', mostSteps + 1)
  if (steps.length < 2) return undefined
  steps.shift()
  return text.includes('~') ? steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~')) : steps
}

/** The position that a step names in a list of that length, from the end where it is negative; undefined for what is no position in it. */
export function positionOf(step: string, length: number): number | undefined {
  if (!/^[+-]?\d{1,10}$/.test(step)) return undefined
  const position = Number(step) < 0 ? Number(step) + length : Number(step)
  return position >= 0 && position < length ? position : undefined
}
