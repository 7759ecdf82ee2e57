// A table with any number of rows. Only visible rows are elements, which are reused while the user scrolls.

import { element } from '../dom/element.js'
import { ageText, cellText } from '../ui/format.js'
import { visibleText } from '../ui/visible-text.js'
import type { Column, Row } from './live-table.js'

const overscan = 6
const flashMs = 1600
const maxCellCharacters = 300
/** Pixels left and right of a cell's text; the style sheet has the same. */
const cellPadding = 22

export interface ShownColumn extends Column {
  /** Index of the cell; `namespace` is not a cell. */
  readonly cell: number | 'namespace'
}

interface Settings {
  readonly label: string
  readonly hrefOf: (row: Row) => string
  readonly onSort: (column: ShownColumn) => void
}

interface Line {
  readonly root: HTMLElement
  readonly cells: HTMLElement[]
  readonly link: HTMLAnchorElement
  row: Row | undefined
  index: number
}

export class VirtualRows {
  readonly root: HTMLElement
  /** Pixels; the style sheet has the same height. */
  private readonly rowHeight = 30
  private readonly settings: Settings
  private readonly header = element('div', { class: 'row header', role: 'row', 'aria-rowindex': 1 })
  private readonly body = element('div', { class: 'rows-body', role: 'rowgroup' })
  private lines: Line[] = []
  private columns: readonly ShownColumn[] = []
  private rows: readonly Row[] = []
  private focusIndex = 0
  private isScheduled = false

  constructor(settings: Settings) {
    this.settings = settings
    this.root = element(
      'div',
      { class: 'rows', role: 'table', 'aria-label': settings.label, tabindex: 0 },
      element('div', { role: 'rowgroup', class: 'rows-head' }, this.header),
      this.body,
    )
    this.root.addEventListener('scroll', () => this.schedule(), { passive: true })
    this.root.addEventListener('keydown', (event) => this.onKey(event))
    new ResizeObserver(() => this.schedule()).observe(this.root)
  }

  setColumns(columns: readonly ShownColumn[], sort: { readonly name: string; readonly isDescending: boolean } | undefined): void {
    this.columns = columns
    this.lines = []
    this.body.replaceChildren()
    this.header.replaceChildren(
      ...columns.map((column) => {
        const isSorted = sort?.name === column.name
        const order = !isSorted ? 'none' : sort.isDescending ? 'descending' : 'ascending'
        const mark = !isSorted ? '' : sort.isDescending ? ' ▾' : ' ▴'
        const sortButton = element(
          'button',
          { type: 'button', title: column.description.slice(0, 400), on: { click: () => this.settings.onSort(column) } },
          `${column.name}${mark}`,
        )
        return element('div', { role: 'columnheader', 'aria-sort': order }, sortButton)
      }),
    )
    this.setWidths()
    this.schedule()
  }

  setRows(rows: readonly Row[]): void {
    const hadRows = this.rows.length > 0
    this.rows = rows
    this.root.setAttribute('aria-rowcount', String(rows.length + 1))
    this.body.style.height = `${rows.length * this.rowHeight}px`
    if (!hadRows && rows.length > 0) this.setWidths()
    this.schedule()
  }

  /** Draws in the next frame, once for all calls. */
  schedule(): void {
    if (this.isScheduled) return
    this.isScheduled = true
    requestAnimationFrame(() => {
      this.isScheduled = false
      this.draw()
    })
  }

  private setWidths(): void {
    const sample = this.rows.slice(0, 100)
    const widths = this.columns.map((column) => {
      const longest = sample.reduce((max, row) => Math.max(max, textOf(row, column, 0).length), column.name.length + 2)
      return `minmax(calc(${Math.min(Math.max(longest, 5), 42)}ch + ${cellPadding}px), ${column.name === 'Name' ? 2 : 1}fr)`
    })
    this.root.style.setProperty('--columns', widths.join(' '))
  }

  private draw(): void {
    const first = Math.max(0, Math.floor(this.root.scrollTop / this.rowHeight) - overscan)
    const count = Math.min(Math.ceil(this.root.clientHeight / this.rowHeight) + 2 * overscan, this.rows.length - first)
    while (this.lines.length < count) this.addLine()
    const nowMs = Date.now()
    for (const [i, line] of this.lines.entries()) {
      // The line of an index is always the same, so that the focus stays in its row.
      const index = first + ((((i - first) % this.lines.length) + this.lines.length) % this.lines.length)
      const row = index < first + count ? this.rows[index] : undefined
      this.fill(line, row, { index, nowMs })
    }
  }

  private addLine(): void {
    const link = element('a', {})
    const cells = this.columns.map(({ name }) => element('div', { role: 'cell' }, name === 'Name' && link))
    const root = element('div', { class: 'row', role: 'row' }, ...cells)
    this.body.append(root)
    this.lines.push({ root, cells, link, row: undefined, index: -1 })
  }

  private fill(line: Line, row: Row | undefined, { index, nowMs }: { readonly index: number; readonly nowMs: number }): void {
    const { root, cells, link } = line
    root.hidden = row === undefined
    if (row === undefined) {
      line.row = undefined
      return
    }
    if (line.index !== index) {
      line.index = index
      root.style.transform = `translateY(${index * this.rowHeight}px)`
      root.setAttribute('aria-rowindex', String(index + 2))
    }
    const isSame = line.row === row
    const isChanged = row.changedMs !== undefined && nowMs - row.changedMs < flashMs
    const isUpdate = isChanged && !isSame && line.row?.key === row.key
    root.classList.toggle('terminating', row.isTerminating)
    if (!isSame || !isChanged) root.classList.toggle('changed', isChanged)
    if (isUpdate) restartAnimation(root)
    for (const [i, column] of this.columns.entries()) {
      const cell = cells[i] as HTMLElement
      const text = textOf(row, column, nowMs)
      if (column.name !== 'Name') setText(cell, text)
      else if (!isSame) {
        setText(link, text)
        link.href = this.settings.hrefOf(row)
        link.dataset['index'] = String(index)
      }
    }
    line.row = row
  }

  private onKey(event: KeyboardEvent): void {
    const step = steps[event.key] ?? (event.key === 'PageDown' ? this.pageRows() : event.key === 'PageUp' ? -this.pageRows() : undefined)
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? this.rows.length - 1 : undefined
    if ((step === undefined && target === undefined) || event.ctrlKey || event.metaKey || event.altKey || this.rows.length === 0) return
    event.preventDefault()
    const focused = (document.activeElement as HTMLElement | null)?.dataset['index']
    const from = focused === undefined ? this.focusIndex - (step ?? 0) : Number(focused)
    this.focusRow(Math.min(Math.max(target ?? from + (step ?? 0), 0), this.rows.length - 1))
  }

  private focusRow(index: number): void {
    this.focusIndex = index
    const top = index * this.rowHeight
    const { scrollTop, clientHeight } = this.root
    const headerHeight = this.rowHeight
    if (top < scrollTop) this.root.scrollTop = top
    else if (top + this.rowHeight > scrollTop + clientHeight - headerHeight)
      this.root.scrollTop = top + this.rowHeight + headerHeight - clientHeight
    this.draw()
    this.lines.find((line) => line.index === index && line.row !== undefined)?.link.focus({ preventScroll: true })
  }

  private pageRows(): number {
    return Math.max(1, Math.floor(this.root.clientHeight / this.rowHeight) - 2)
  }
}

const steps: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

function setText(target: HTMLElement, text: string): void {
  const shown = visibleText(text.length > maxCellCharacters ? `${text.slice(0, maxCellCharacters)}…` : text)
  if (target.textContent !== shown) {
    target.textContent = shown
    target.title = shown
  }
}

export function textOf(row: Row, { cell, name, type }: ShownColumn, nowMs: number): string {
  if (cell === 'namespace') return row.namespace
  // The server computes ages when it sends the row.
  if (name === 'Age' && type === 'string' && Number.isFinite(row.createdMs)) return ageText(row.createdMs, nowMs)
  return cellText(row.cells[cell])
}

/** A row that changes twice flashes twice. */
function restartAnimation(root: HTMLElement): void {
  for (const animation of root.getAnimations()) {
    animation.cancel()
    animation.play()
  }
}
