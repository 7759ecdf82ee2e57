// Sets of completion indexes of an Indexed Job, as sorted intervals; their text is `status.completedIndexes`, such as `0-3,7`.

interface Interval {
  readonly first: number
  readonly last: number
}

/** Sorted, neither overlapping nor adjacent. */
export type Indexes = readonly Interval[]

/** Reads `status.completedIndexes`; ignores indexes that are not below `completions`, and text that is no interval. */
export function parseIndexes(text: string, completions: number): Indexes {
  const intervals: Interval[] = []
  for (const part of text.split(',')) {
    const match = /^(\d+)(?:-(\d+))?$/.exec(part)
    if (match === null) continue
    const first = Number(match[1])
    const last = Math.min(Number(match[2] ?? first), completions - 1)
    if (first <= last) intervals.push({ first, last })
  }
  return merged(intervals)
}

export const withIndexes = (indexes: Indexes, added: Iterable<number>): Indexes =>
  merged([...indexes, ...Array.from(added, (index) => ({ first: index, last: index }))])

function merged(intervals: readonly Interval[]): Indexes {
  const result: Interval[] = []
  for (const interval of intervals.toSorted((one, other) => one.first - other.first)) {
    const before = result.at(-1)
    if (before === undefined || interval.first > before.last + 1) result.push(interval)
    else result[result.length - 1] = { first: before.first, last: Math.max(before.last, interval.last) }
  }
  return result
}

export const countIndexes = (indexes: Indexes): number => indexes.reduce((sum, { first, last }) => sum + last - first + 1, 0)

export const hasIndex = (indexes: Indexes, index: number): boolean => indexes.some(({ first, last }) => first <= index && index <= last)

/** Two adjacent indexes are listed, three or more are an interval. */
export const printIndexes = (indexes: Indexes): string =>
  indexes.map(({ first, last }) => (first === last ? `${first}` : `${first}${last === first + 1 ? ',' : '-'}${last}`)).join(',')

/** The lowest `count` indexes below `completions` that are not in `taken`. */
export function firstFreeIndexes(taken: Indexes, count: number, completions: number): readonly number[] {
  const free: number[] = []
  let next = 0
  for (const { first, last } of [...taken, { first: completions, last: completions }]) {
    for (; next < first && next < completions && free.length < count; next++) free.push(next)
    next = Math.max(next, last + 1)
  }
  return free
}
