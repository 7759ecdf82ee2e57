// A shape: builds an input of any size, and the parser or patch that processes it, to test that work is linear in the input.

import type { Random } from '../kit/seeded-random.js'

export interface Shape {
  /** Parser or patch type. */
  readonly subject: string
  readonly name: string
  /** Builds an input of about this many bytes, and the function to measure. */
  readonly prepare: (bytes: number, random: Random) => () => unknown
  /** Maximum input of this parser. */
  readonly maxBytes: number
  /** First measured size: below it, caches and fast paths make the work cheaper. */
  readonly settledBytes?: number
}

/** Maximum request body. */
export const maxBodyBytes = 3 * 1024 * 1024
/** Maximum total of request headers. */
export const maxHeaderBytes = 64 * 1024

/** Repeats a string to about this many bytes. */
export const fill = (unit: string, bytes: number): string => unit.repeat(Math.max(1, Math.floor(bytes / unit.length)))

/** Joins different strings to about this many bytes. */
export function fillWith(make: (index: number) => string, separator: string, bytes: number): string {
  const parts: string[] = []
  for (let length = 0, i = 0; length < bytes; i++) {
    const part = make(i)
    parts.push(part)
    length += part.length + separator.length
  }
  return parts.join(separator)
}

/** Number of items of a size that fill the bytes. */
export const countFor = (bytes: number, itemBytes: number): number => Math.max(1, Math.floor(bytes / itemBytes))

export const listOf = <T>(count: number, make: (index: number) => T): readonly T[] => Array.from({ length: count }, (_, i) => make(i))

export const recordOf = <T>(count: number, make: (index: number) => readonly [string, T]): { readonly [name: string]: T } =>
  Object.fromEntries(listOf(count, make))

/** Runs a function that may reject its input. */
export function attempt(act: () => unknown): unknown {
  try {
    return act()
  } catch (thrown) {
    if (thrown instanceof RangeError) throw thrown // the stack or the memory is at its end
    return thrown
  }
}
