// The same deed on many objects: what fails is told, and the others are done all the same.

import { explain } from './failure.js'
import type { Io } from './io.js'

/** Gives the exit code. What fails of a file is told with the file, where there is a word for what was done: "creating". */
export async function forEach<T extends { readonly origin?: string }>(
  items: readonly T[],
  io: Io,
  deed: (item: T) => Promise<void>,
  doing?: string,
): Promise<number> {
  let failures = 0
  for (const item of items) {
    try {
      await deed(item)
    } catch (thrown) {
      failures++
      io.err(explain(thrown, doing === undefined || item.origin === undefined ? '' : `error when ${doing} "${item.origin}": `))
    }
  }
  return failures === 0 ? 0 : 1
}
