// What the page of a table shows: rows in order, changes that wait while the user reads, and the state of the connection.

import type { Column, Row, RowChange, TableListener, TableState } from './live-table.js'
import { RowOrder, type SortOrder } from './row-order.js'

/** Rows do not move while the user points, types or scrolls in the table, and for this long after. */
const readingMs = 1500
/** Maximum number of changes that a paused table holds back; then they are shown, to bound its memory. */
const maxWaiting = 50_000

export class TableModel implements TableListener {
  columns: readonly Column[] = []
  state: TableState = 'loading'
  error: unknown
  isPaused = false
  private readonly order = new RowOrder()
  private readonly onChange: () => void
  private waiting = new Map<string, RowChange>()
  private isReading = false
  private readingTimer: ReturnType<typeof setTimeout> | undefined

  constructor(onChange: () => void) {
    this.onChange = onChange
  }

  get rows(): readonly Row[] {
    return this.order.rows
  }

  get total(): number {
    return this.order.total
  }

  get waitingCount(): number {
    return this.waiting.size
  }

  onColumns(columns: readonly Column[]): void {
    this.columns = columns
    this.order.clear()
    this.waiting = new Map()
    this.onChange()
  }

  onRows(rows: readonly Row[]): void {
    this.order.add(rows)
    this.onChange()
  }

  onState(state: TableState, error?: unknown): void {
    this.state = state
    this.error = error
    this.onChange()
  }

  /** Changes that move rows wait while the user reads; all changes wait while the table is paused. */
  onChanges(changes: readonly RowChange[]): void {
    const ready: RowChange[] = []
    for (const change of changes) {
      const key = change.type === 'put' ? change.row.key : change.key
      const moves = change.type === 'delete' || !this.order.has(key) || this.waiting.has(key)
      if (this.isPaused || (this.isReading && moves && this.rows.length > 0)) this.waiting.set(key, change)
      else ready.push(change)
    }
    if (ready.length > 0) this.order.apply(ready)
    if (this.waiting.size > maxWaiting) this.release()
    else this.onChange()
  }

  /** Shows the changes that wait, as if they arrived now. */
  release(): void {
    const changedMs = Date.now()
    const changes = [...this.waiting.values()].map(
      (change): RowChange => (change.type === 'put' ? { type: 'put', row: { ...change.row, changedMs } } : change),
    )
    this.waiting = new Map()
    if (changes.length > 0) this.order.apply(changes)
    this.onChange()
  }

  readonly startReading = (): void => {
    this.isReading = true
    clearTimeout(this.readingTimer)
    this.readingTimer = setTimeout(this.stopReading, readingMs)
  }

  readonly stopReading = (): void => {
    clearTimeout(this.readingTimer)
    this.isReading = false
    if (!this.isPaused && this.waiting.size > 0) this.release()
  }

  togglePause(): void {
    this.isPaused = !this.isPaused
    if (this.isPaused) this.onChange()
    else this.release()
  }

  async arrange(sort: SortOrder, filter: string): Promise<void> {
    if (await this.order.arrange(sort, filter)) this.onChange()
  }
}
