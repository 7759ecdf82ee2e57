// Size of a regular expression after compilation: counted repetitions multiply what they repeat.

import { endOfChar, endOfClass } from './regex-scan.js'

const repetition = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

/** Estimates the number of instructions. Text in `\Q...\E` counts as unquoted. */
export function regexSize(text: string): number {
  const openGroupSizes: number[] = []
  let sizeBefore = 0
  let lastSize = 0
  const lastClassNameEnd = text.lastIndexOf(':]')
  for (let at = 0; at < text.length; ) {
    const char = text[at]
    if (char === '{') {
      repetition.lastIndex = at
      const found = repetition.exec(text)
      if (found !== null) {
        lastSize *= Math.max(1, Number(found[1]), Number(found[2] || 0))
        at = repetition.lastIndex
        continue
      }
    }
    if (char === '(') {
      openGroupSizes.push(sizeBefore + lastSize)
      sizeBefore = 0
      lastSize = 1
      at++
    } else if (char === ')') {
      lastSize += sizeBefore + 1
      sizeBefore = openGroupSizes.pop() ?? 0
      at++
    } else if (char === '*' || char === '+' || char === '?') {
      lastSize++
      at++
    } else {
      sizeBefore += lastSize
      lastSize = 1
      at = char === '[' ? endOfClass(text, at, lastClassNameEnd, []) + 1 : endOfChar(text, at)
    }
  }
  return openGroupSizes.reduce((sum, size) => sum + size, sizeBefore + lastSize)
}
