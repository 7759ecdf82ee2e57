// Order of texts by their UTF-8 bytes, as in the store and kube-apiserver, and binary search. UTF-16 order differs only for code units
// above U+D7FF; most texts have one byte per character in V8, for which that test is free.

const highUnit = /[\ud800-\uffff]/

type CompareTexts = (a: string, b: string) => number

export function compareText(a: string, b: string): number {
  return a !== b && highUnit.test(a) && highUnit.test(b) ? compareUnits(a, b) : compareNatively(a, b)
}

/** Comparator for calls that all compare with this text. */
export const comparatorFor = (text: string): CompareTexts => (highUnit.test(text) ? compareUnits : compareNatively)

export function sortTexts(texts: string[]): string[] {
  if (texts.length < 2) return texts
  for (let i = 0; i < texts.length; i++) if (highUnit.test(texts[i] as string)) return texts.sort(compareText)
  return texts.sort()
}

/** Returns the index of the first element that is not less than the text. */
export function lowerBound(ordered: readonly string[], text: string): number {
  const compare = comparatorFor(text)
  return countLeading(ordered, (item) => compare(item, text) < 0)
}

/** Number of leading items that match; no item after them may match. */
export function countLeading<T>(items: readonly T[], matches: (item: T) => boolean): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (matches(items[middle] as T)) low = middle + 1
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

const rankOf = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800)
