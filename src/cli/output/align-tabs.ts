// Cells that tabs end, as columns: a column is as wide as the widest of the cells that stand directly below one another in it.

import { widthOf } from './columns.js'

const padding = 2

export function alignTabs(lines: readonly string[]): readonly string[] {
  const rows = lines.map((line) => line.split('\t'))
  const out = rows.map(() => '')
  align(0, rows.length, 0)
  return out

  /** Of these rows the columns before `column` are written. The last cell of a row is in no column. */
  function align(from: number, to: number, column: number): void {
    for (let at = from; at < to; ) {
      const cells = rows[at] as readonly string[]
      if (column >= cells.length - 1) {
        out[at] += cells[column] ?? ''
        at++
        continue
      }
      let end = at
      let width = 0
      for (; end < to && column < (rows[end] as readonly string[]).length - 1; end++)
        width = Math.max(width, widthOf(rows[end]?.[column] as string) + padding)
      for (let i = at; i < end; i++) {
        const text = rows[i]?.[column] as string
        out[i] += text + ' '.repeat(width - widthOf(text))
      }
      align(at, end, column + 1)
      at = end
    }
  }
}
