// The rows that a table shows, filtered and in order. Changes of single rows do not sort again; large sorts yield to the event loop.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { cellText } from '../ui/format.js'
import type { Row, RowChange } from './live-table.js'

/** Index of a column; `key`: namespace and name, the order of the server; `age`: by creation. */
export interface SortOrder {
  readonly by: number | 'key' | 'age'
  readonly isDescending: boolean
}

export const serverOrder: SortOrder = { by: 'key', isDescending: false }

const sliceRows = 4000
/** More changes are merged in one pass: each alone searches all rows. */
const maxSingleChanges = 20

type Compare = (a: Row, b: Row) => number

export class RowOrder {
  /** All rows by their key. */
  private readonly all = new Map<string, Row>()
  private shown: Row[] = []
  private words: readonly string[] = []
  private compare: Compare = comparatorOf(serverOrder)
  private sorting = 0
  /** Keys that changed since the running sort began. */
  private touched = new Set<string>()

  get rows(): readonly Row[] {
    return this.shown
  }

  get total(): number {
    return this.all.size
  }

  has(key: string): boolean {
    return this.all.has(key)
  }

  clear(): void {
    this.all.clear()
    this.shown = []
    this.sorting++
  }

  /** Adds rows of the next page, which the server sorted. */
  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.all.set(row.key, row)
      this.touched.add(row.key)
      if (!this.matches(row)) continue
      const last = this.shown.at(-1)
      if (last === undefined || this.compare(last, row) <= 0) this.shown.push(row)
      else this.insert(row)
    }
  }

  /** Returns true if rows moved. */
  apply(changes: readonly RowChange[]): boolean {
    if (changes.length > maxSingleChanges) return this.merge(changes)
    let hasMoved = false
    for (const change of changes) {
      const key = change.type === 'put' ? change.row.key : change.key
      const old = this.all.get(key)
      this.touched.add(key)
      if (change.type === 'delete') this.all.delete(key)
      else this.all.set(key, change.row)
      const at = old === undefined ? -1 : this.shown.indexOf(old)
      const row = change.type === 'put' && this.matches(change.row) ? change.row : undefined
      if (at >= 0 && row !== undefined && this.compare(old as Row, row) === 0) {
        this.shown[at] = row
        continue
      }
      if (at >= 0) this.shown.splice(at, 1)
      if (row !== undefined) this.insert(row)
      hasMoved ||= at >= 0 || row !== undefined
    }
    return hasMoved
  }

  private merge(changes: readonly RowChange[]): true {
    const latest = new Map(changes.map((change) => [change.type === 'put' ? change.row.key : change.key, change]))
    const added: Row[] = []
    for (const [key, change] of latest) {
      this.touched.add(key)
      if (change.type === 'delete') this.all.delete(key)
      else {
        this.all.set(key, change.row)
        if (this.matches(change.row)) added.push(change.row)
      }
    }
    added.sort(this.compare)
    const merged: Row[] = []
    let next = 0
    for (const row of this.shown) {
      if (latest.has(row.key)) continue
      for (; next < added.length && this.compare(added[next] as Row, row) < 0; next++) merged.push(added[next] as Row)
      merged.push(row)
    }
    this.shown = [...merged, ...added.slice(next)]
    return true
  }

  /** Resolves with false if another call replaced this one. */
  async arrange(order: SortOrder, filter: string): Promise<boolean> {
    const id = ++this.sorting
    this.compare = comparatorOf(order)
    this.words = filter
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
    this.touched = new Set()
    const runs: Row[][] = []
    let run: Row[] = []
    let seen = 0
    for (const row of [...this.all.values()]) {
      if (this.matches(row)) run.push(row)
      if (++seen % sliceRows !== 0) continue
      runs.push(run.sort(this.compare))
      run = []
      await nextTask()
      if (id !== this.sorting) return false
    }
    runs.push(run.sort(this.compare))
    while (runs.length > 1) {
      const merged: Row[][] = []
      for (let i = 0; i < runs.length; i += 2) {
        merged.push(await mergeRuns(runs[i] as Row[], runs[i + 1] ?? [], this.compare))
        if (id !== this.sorting) return false
      }
      runs.splice(0, runs.length, ...merged)
    }
    const sorted = runs[0] ?? []
    const { touched } = this
    this.shown = touched.size === 0 ? sorted : sorted.filter(({ key }) => !touched.has(key))
    for (const key of touched) {
      const row = this.all.get(key)
      if (row !== undefined && this.matches(row)) this.insert(row)
    }
    touched.clear()
    return true
  }

  private insert(row: Row): void {
    let low = 0
    let high = this.shown.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(this.shown[middle] as Row, row) < 0) low = middle + 1
      else high = middle
    }
    this.shown.splice(low, 0, row)
  }

  private matches(row: Row): boolean {
    if (this.words.length === 0) return true
    const text = `${row.namespace} ${row.name} ${row.cells.map(cellText).join(' ')}`.toLowerCase()
    return this.words.every((word) => text.includes(word))
  }
}

async function mergeRuns(a: readonly Row[], b: readonly Row[], compare: Compare): Promise<Row[]> {
  const merged: Row[] = []
  let i = 0
  let j = 0
  while (i < a.length || j < b.length) {
    const [left, right] = [a[i], b[j]]
    if (right === undefined || (left !== undefined && compare(left, right) <= 0)) {
      merged.push(left as Row)
      i++
    } else {
      merged.push(right)
      j++
    }
    if (merged.length % (2 * sliceRows) === 0) await nextTask()
  }
  return merged
}

/** A message is a task without the minimum delay of a timer. */
const nextTask = (): Promise<void> =>
  new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel()
    port1.onmessage = () => {
      port1.close()
      resolve()
    }
    port2.postMessage(undefined)
  })

function comparatorOf({ by, isDescending }: SortOrder): Compare {
  const compare: Compare =
    by === 'key'
      ? compareKeys
      : by === 'age'
        ? (a, b) => b.createdMs - a.createdMs || compareKeys(a, b)
        : (a, b) => compareCells(a.cells[by], b.cells[by]) || compareKeys(a, b)
  return isDescending ? (a, b) => compare(b, a) : compare
}

/** The server lists namespaces in order, and the names of each. */
const compareKeys: Compare = (a, b) => compareText(a.namespace, b.namespace) || compareText(a.name, b.name)

export function compareCells(a: unknown, b: unknown): number {
  if (typeof a === 'number' && typeof b === 'number') return a - b
  const [left, right] = [numberIn(a), numberIn(b)]
  if (left !== undefined && right !== undefined && left !== right) return left - right
  // Numbers before other texts: an order in which some three cells are a circle would misplace rows.
  if ((left === undefined) !== (right === undefined)) return left === undefined ? 1 : -1
  return compareText(cellText(a), cellText(b))
}

/** Cells such as `3/5`, `12` and `250m` begin with a number. */
const numberIn = (cell: unknown): number | undefined => {
  const text = typeof cell === 'string' ? /^-?\d{1,15}(?:\.\d{1,6})?(?=$|[/%])/.exec(cell)?.[0] : undefined
  return text === undefined ? (typeof cell === 'number' ? cell : undefined) : Number(text)
}
