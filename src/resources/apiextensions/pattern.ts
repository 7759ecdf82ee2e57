// Regular expressions of schemas as functions over texts, in linear time: their author is not the one who waits.

import { patternOf } from '../../cel/pattern.js'

/** What is wrong with a pattern; undefined where nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = patternOf(pattern)
  return compiled instanceof Error ? compiled.message : undefined
}

/** Whether a part of the text matches; a pattern that is none matches nothing. */
export function matchesPattern(pattern: string, text: string): boolean {
  const compiled = patternOf(pattern)
  return !(compiled instanceof Error) && compiled.test(text)
}
