// What differs between two texts, as `diff -u` shows it.

interface Line {
  readonly sign: ' ' | '-' | '+'
  readonly text: string
}

/** More than so many lines that differ are shown as all old and all new: the work grows with their square. */
const mostLines = 4000
const context = 3

/** Empty where nothing differs. */
export function unifiedDiff(before: string, after: string, names: readonly [string, string]): string {
  if (before === after) return ''
  const lines = compareLines(linesOf(before), linesOf(after))
  const changed = lines.flatMap(({ sign }, i) => (sign === ' ' ? [] : [i]))
  let text = `--- ${names[0]}\n+++ ${names[1]}\n`
  for (let at = 0; at < changed.length; ) {
    let end = at
    while (end + 1 < changed.length && (changed[end + 1] as number) - (changed[end] as number) <= 2 * context) end++
    text += hunk(lines, Math.max(0, (changed[at] as number) - context), Math.min(lines.length, (changed[end] as number) + context + 1))
    at = end + 1
  }
  return text
}

const linesOf = (text: string): readonly string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

function hunk(lines: readonly Line[], from: number, to: number): string {
  const count = (part: readonly Line[], other: '-' | '+'): number => part.filter(({ sign }) => sign !== other).length
  const [before, inside] = [lines.slice(0, from), lines.slice(from, to)]
  const place = (other: '-' | '+'): string => {
    const length = count(inside, other)
    return `${count(before, other) + (length === 0 ? 0 : 1)},${length}`
  }
  return `@@ -${place('+')} +${place('-')} @@\n${inside.map(({ sign, text }) => `${sign}${text}\n`).join('')}`
}

/** By the longest common sequence of what lies between the common beginning and the common end. */
function compareLines(a: readonly string[], b: readonly string[]): readonly Line[] {
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let tail = 0
  while (tail < a.length - start && tail < b.length - start && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++
  const same = (texts: readonly string[]): Line[] => texts.map((text) => ({ sign: ' ', text }))
  const middle = between(a.slice(start, a.length - tail), b.slice(start, b.length - tail))
  return [...same(a.slice(0, start)), ...middle, ...same(a.slice(a.length - tail))]
}

function between(a: readonly string[], b: readonly string[]): readonly Line[] {
  const gone = (text: string): Line => ({ sign: '-', text })
  const come = (text: string): Line => ({ sign: '+', text })
  if (a.length === 0 || b.length === 0 || a.length > mostLines || b.length > mostLines) return [...a.map(gone), ...b.map(come)]
  const lengths = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      (lengths[i] as Uint16Array)[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ sign: ' ', text: a[i] as string })
      i++
      j++
    } else if (j >= b.length || (i < a.length && at(i + 1, j) >= at(i, j + 1))) lines.push(gone(a[i++] as string))
    else lines.push(come(b[j++] as string))
  }
  return lines
}
