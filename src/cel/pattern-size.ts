// How large a regular expression becomes when it is compiled: each counted repeat stands for as many copies of what it repeats.

import { endOfClass, endOfLetter } from './pattern-text.js'

const count = /\{(\d{1,4})(?:,(\d{0,4}))?\}/y

/** The instructions, more or less, of what a parser would take; what is quoted (`\Q`) counts as if it were not. */
export function patternSize(text: string): number {
  /** Of each open group, what came before its last part. */
  const open: number[] = []
  let before = 0
  let last = 0
  const lastName = text.lastIndexOf(':]')
  for (let at = 0; at < text.length; ) {
    const letter = text[at]
    if (letter === '{') {
      count.lastIndex = at
      const found = count.exec(text)
      if (found !== null) {
        last *= Math.max(1, Number(found[1]), Number(found[2] || 0))
        at = count.lastIndex
        continue
      }
    }
    if (letter === '(') {
      open.push(before + last)
      before = 0
      last = 1
      at++
    } else if (letter === ')') {
      last += before + 1
      before = open.pop() ?? 0
      at++
    } else if (letter === '*' || letter === '+' || letter === '?') {
      last++
      at++
    } else {
      before += last
      last = 1
      at = letter === '[' ? endOfClass(text, at, lastName, []) + 1 : endOfLetter(text, at)
    }
  }
  return open.reduce((sum, size) => sum + size, before + last)
}
