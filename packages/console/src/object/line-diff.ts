// Differences between two texts by lines: Myers' algorithm with a limit, beyond which the texts count as different as a whole.

export interface DiffLine {
  readonly type: 'same' | 'added' | 'removed'
  readonly text: string
}

/** Steps of the search; the time grows with the square of the number of different lines. */
const maxDifferences = 1500

export function diffLines(before: readonly string[], after: readonly string[]): readonly DiffLine[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++
  const middle = diffMiddle(before.slice(start, before.length - end), after.slice(start, after.length - end))
  const same = (text: string): DiffLine => ({ type: 'same', text })
  return [...before.slice(0, start).map(same), ...middle, ...before.slice(before.length - end).map(same)]
}

function diffMiddle(a: readonly string[], b: readonly string[]): readonly DiffLine[] {
  const trace = search(a, b)
  if (trace === undefined)
    return [...a.map((text): DiffLine => ({ type: 'removed', text })), ...b.map((text): DiffLine => ({ type: 'added', text }))]
  const lines: DiffLine[] = []
  let [x, y] = [a.length, b.length]
  for (let d = trace.length - 1; d >= 0; d--) {
    const furthest = trace[d] as ReadonlyMap<number, number>
    const k = x - y
    const isDown = k === -d || (k !== d && (furthest.get(k - 1) ?? -1) < (furthest.get(k + 1) ?? -1))
    const fromX = furthest.get(isDown ? k + 1 : k - 1) ?? 0
    const fromY = fromX - (isDown ? k + 1 : k - 1)
    while (x > fromX && y > fromY && x > 0 && y > 0 && a[x - 1] === b[y - 1]) {
      lines.push({ type: 'same', text: a[--x] as string })
      y--
    }
    if (d === 0) break
    if (isDown) lines.push({ type: 'added', text: b[--y] as string })
    else lines.push({ type: 'removed', text: a[--x] as string })
  }
  return lines.reverse()
}

/** For each number of differences, the furthest positions on each diagonal before its step; undefined beyond the limit. */
function search(a: readonly string[], b: readonly string[]): readonly ReadonlyMap<number, number>[] | undefined {
  const trace: Map<number, number>[] = []
  let furthest = new Map<number, number>([[1, 0]])
  for (let d = 0; d <= a.length + b.length; d++) {
    if (d > maxDifferences) return undefined
    trace.push(new Map(furthest))
    const next = new Map(furthest)
    for (let k = -d; k <= d; k += 2) {
      const isDown = k === -d || (k !== d && (next.get(k - 1) ?? -1) < (next.get(k + 1) ?? -1))
      let x = isDown ? (next.get(k + 1) ?? 0) : (next.get(k - 1) ?? 0) + 1
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++
      next.set(k, x)
      if (x >= a.length && x - k >= b.length) return trace
    }
    furthest = next
  }
  return trace
}

export interface DiffHunk {
  readonly skipped: number
  readonly lines: readonly DiffLine[]
}

const contextLines = 3

/** Leaves out lines far from a difference. */
export function hunksOf(lines: readonly DiffLine[]): readonly DiffHunk[] {
  const hunks: { skipped: number; lines: DiffLine[] }[] = []
  let skipped = 0
  const distances = distancesToChange(lines)
  for (const [i, line] of lines.entries()) {
    if ((distances[i] as number) > contextLines) {
      skipped++
      continue
    }
    const last = hunks.at(-1)
    if (last === undefined || skipped > 0) hunks.push({ skipped, lines: [line] })
    else last.lines.push(line)
    skipped = 0
  }
  return hunks
}

function distancesToChange(lines: readonly DiffLine[]): readonly number[] {
  const distances = lines.map(() => Number.POSITIVE_INFINITY)
  let distance = Number.POSITIVE_INFINITY
  for (const [i, { type }] of lines.entries()) {
    distance = type === 'same' ? distance + 1 : 0
    distances[i] = distance
  }
  distance = Number.POSITIVE_INFINITY
  for (let i = lines.length - 1; i >= 0; i--) {
    distance = lines[i]?.type === 'same' ? distance + 1 : 0
    distances[i] = Math.min(distances[i] as number, distance)
  }
  return distances
}
