// Regular expressions in linear time, compiled once. Whatever users write as a pattern goes through here.

import { RE2JS } from 're2js'

/** Texts longer than this are not worth a place. */
const maxKeptLength = 1024
const maxKept = 512
const kept = new Map<string, RE2JS | Error>()

/** The pattern, or what is wrong with it. */
export function patternOf(text: string): RE2JS | Error {
  const known = kept.get(text)
  if (known !== undefined) return known
  let pattern: RE2JS | Error
  try {
    pattern = RE2JS.compile(text)
  } catch (thrown) {
    pattern = thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  if (text.length <= maxKeptLength) {
    if (kept.size >= maxKept) kept.delete(kept.keys().next().value as string)
    kept.set(text, pattern)
  }
  return pattern
}
