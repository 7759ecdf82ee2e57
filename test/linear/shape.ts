// What the law "work is linear in the bytes received" is tried on: a way to make an input of any size, and what is done with it.

import type { Random } from '../kit/seeded-random.js'

export interface Shape {
  /** The parser or patch that it is for. */
  readonly subject: string
  readonly name: string
  /** Makes an input of about so many bytes, and what is to be measured. */
  readonly prepare: (bytes: number, random: Random) => () => unknown
  /** The largest input that the server lets through to this parser. */
  readonly maxBytes: number
  /** From which size on caches are of no use any more, and no quicker way is taken: below it, the same work is quicker. */
  readonly settledBytes?: number
}

/** The largest body of a request. */
export const largestBody = 3 * 1024 * 1024
/** All headers of a request together. */
export const largestHeaders = 64 * 1024

/** So many times a text that about fills the bytes. */
export const fill = (unit: string, bytes: number): string => unit.repeat(Math.max(1, Math.floor(bytes / unit.length)))

/** Different texts, joined, that about fill the bytes. */
export function fillWith(make: (index: number) => string, separator: string, bytes: number): string {
  const parts: string[] = []
  for (let length = 0, i = 0; length < bytes; i++) {
    const part = make(i)
    parts.push(part)
    length += part.length + separator.length
  }
  return parts.join(separator)
}

/** How many items of a size fill the bytes. */
export const countFor = (bytes: number, itemBytes: number): number => Math.max(1, Math.floor(bytes / itemBytes))

export const listOf = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => make(i))

export const recordOf = <T>(count: number, make: (index: number) => readonly [string, T]): { readonly [name: string]: T } =>
  Object.fromEntries(listOf(count, make))

/** Runs what may refuse its input: a refusal is an answer, too. */
export function attempt(act: () => unknown): unknown {
  try {
    return act()
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown // the stack or the memory is at its end
    return thrown
  }
}
