// The one order of texts: that of their UTF-8 bytes, in which the store keeps its keys and the reference writes maps and lists of names.
//
// JavaScript compares UTF-16 units, which is the same order but for two texts that first differ in a surrogate and in a unit above the
// surrogates (U+E000 to U+FFFF). Both must have a unit of that kind for it to matter, so one look at one of them mostly tells that the native
// comparison will do. The look is a regular expression without any such text in Latin-1: V8 answers it for ASCII without reading the text.

const highUnit = /[\ud800-\uffff]/

export type CompareTexts = (a: string, b: string) => number

/** Negative when `a` comes first. */
export function compareText(a: string, b: string): number {
  return a !== b && highUnit.test(a) && highUnit.test(b) ? compareUnits(a, b) : compareNatively(a, b)
}

/** How to compare this text with others: found out once where it is compared with many. */
export const comparisonOf = (text: string): CompareTexts => (highUnit.test(text) ? compareUnits : compareNatively)

/** Puts the texts themselves in order. */
export function sortTexts(texts: string[]): string[] {
  if (texts.length < 2) return texts
  for (let i = 0; i < texts.length; i++) if (highUnit.test(texts[i] as string)) return texts.sort(compareText)
  return texts.sort()
}

/** How many of the ordered texts come before this one: the index of the first that does not. */
export function countBefore(ordered: readonly string[], text: string): number {
  const compare = comparisonOf(text)
  let low = 0
  let high = ordered.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (compare(ordered[middle] as string, text) < 0) low = middle + 1
    else high = middle
  }
  return low
}

const compareNatively = (a: string, b: string): number => (a < b ? -1 : a === b ? 0 : 1)

function compareUnits(a: string, b: string): number {
  const shared = Math.min(a.length, b.length)
  for (let i = 0; i < shared; i++) {
    const left = a.charCodeAt(i)
    const right = b.charCodeAt(i)
    if (left !== right) return rankOf(left) - rankOf(right)
  }
  return a.length - b.length
}

/** Surrogates stand for characters behind all others. */
const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)
