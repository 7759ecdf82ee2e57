// The same deed on many objects: what fails is told, and the others are done all the same.

import { explain } from './failure.js'
import type { Io } from './io.js'

/** Gives the exit code. */
export async function forEach<T>(items: readonly T[], io: Io, deed: (item: T) => Promise<void>): Promise<number> {
  let failures = 0
  for (const item of items) {
    try {
      await deed(item)
    } catch (thrown) {
      failures++
      io.err(explain(thrown))
    }
  }
  return failures === 0 ? 0 : 1
}
