// Regular expressions of schemas as functions over texts, in linear time: their author is not the one who waits.

import type { Strain } from '../../base/weight.js'
import { compiledWork } from '../../cel/call-work.js'
import { patternOf, workOfCompiling } from '../../cel/pattern.js'

/** What is wrong with a pattern; undefined where nothing is. */
export function patternProblem(pattern: string): string | undefined {
  const compiled = patternOf(pattern)
  return compiled instanceof Error ? compiled.message : undefined
}

/** Whether a part of the text matches; a pattern that is none matches nothing. */
export function matchesPattern(pattern: string, text: string, strain?: Strain): boolean {
  strain?.expect(workOfCompiling(pattern))
  const compiled = patternOf(pattern)
  if (compiled instanceof Error) return false
  strain?.expect(compiledWork(compiled, text))
  const matches = compiled.test(text)
  strain?.look()
  return matches
}
