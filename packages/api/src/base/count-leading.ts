// Binary search in an ordered list.

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
