// A table with any number of rows. Only visible rows are elements, which are reused while the user scrolls.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks'
import { ageText, cellText } from '../ui/format.js'
import { useFrameRedraw } from '../ui/hooks.js'
import type { Column, Row } from './live-table.js'

/** Pixels; the style sheet has the same height. */
const rowHeight = 30
const overscan = 6
const flashMs = 1600
const maxCellCharacters = 300
/** Pixels left and right of a cell's text; the style sheet has the same. */
const cellPadding = 22

export interface ShownColumn extends Column {
  /** Index of the cell; `namespace` is not a cell. */
  readonly cell: number | 'namespace'
}

interface VirtualRowsProps {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly ShownColumn[]
  readonly sort: { readonly name: string; readonly isDescending: boolean } | undefined
  readonly hrefOf: (row: Row) => string
  readonly onSort: (column: ShownColumn) => void
  readonly onReading: () => void
  readonly onRead: () => void
}

export function VirtualRows({ label, rows, columns, sort, hrefOf, onSort, onReading, onRead }: VirtualRowsProps) {
  const root = useRef<HTMLDivElement>(null)
  const redraw = useFrameRedraw()
  /** Index of the row that gets the focus once it is drawn. */
  const pendingFocus = useRef<number | undefined>(undefined)
  const lastFocus = useRef(0)
  const hasRows = rows.length > 0
  const widths = useMemo(() => columns.map((column) => widthOf(column, rows)).join(' '), [columns, hasRows])
  useEffect(() => {
    const observer = new ResizeObserver(redraw)
    if (root.current !== null) observer.observe(root.current)
    return () => observer.disconnect()
  }, [])
  const linkOf = (index: number): HTMLElement | null => root.current?.querySelector<HTMLElement>(`[data-index="${index}"]`) ?? null
  useLayoutEffect(() => {
    if (pendingFocus.current !== undefined) linkOf(pendingFocus.current)?.focus({ preventScroll: true })
    pendingFocus.current = undefined
  })

  const { scrollTop = 0, clientHeight = 0 } = root.current ?? {}
  const size = Math.ceil(clientHeight / rowHeight) + 2 * overscan
  const first = Math.max(0, Math.min(Math.floor(scrollTop / rowHeight) - overscan, rows.length - size))
  const shown = rows.slice(first, first + size)

  const focusRow = (index: number): void => {
    if (root.current === null) return
    lastFocus.current = index
    const top = index * rowHeight
    // The header covers the first row of the visible part.
    if (top < root.current.scrollTop) root.current.scrollTop = top
    else if (top + 2 * rowHeight > root.current.scrollTop + clientHeight) root.current.scrollTop = top + 2 * rowHeight - clientHeight
    const link = linkOf(index)
    link?.focus({ preventScroll: true })
    pendingFocus.current = link === null ? index : undefined
    redraw()
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const pageRows = Math.max(1, Math.floor(clientHeight / rowHeight) - 2)
    const step = steps[event.key] ?? (event.key === 'PageDown' ? pageRows : event.key === 'PageUp' ? -pageRows : undefined)
    const target = event.key === 'Home' ? 0 : event.key === 'End' ? rows.length - 1 : undefined
    if ((step === undefined && target === undefined) || event.ctrlKey || event.metaKey || event.altKey || rows.length === 0) return
    event.preventDefault()
    const focused = pendingFocus.current ?? (document.activeElement as HTMLElement | null)?.dataset['index']
    const from = focused === undefined ? lastFocus.current - (step ?? 0) : Number(focused)
    focusRow(Math.min(Math.max(target ?? from + (step ?? 0), 0), rows.length - 1))
  }
  const nowMs = Date.now()
  return (
    <div
      class="rows"
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      tabIndex={0}
      ref={root}
      style={{ '--columns': widths }}
      onScroll={() => {
        onReading()
        redraw()
      }}
      onPointerMove={onReading}
      onPointerDown={onReading}
      onPointerLeave={onRead}
      onKeyDown={(event) => {
        onReading()
        onKeyDown(event)
      }}
    >
      <div role="rowgroup" class="rows-head">
        <div class="row header" role="row" aria-rowindex={1}>
          {columns.map((column) => {
            const isSorted = sort?.name === column.name
            return (
              <div role="columnheader" key={column.cell} aria-sort={!isSorted ? 'none' : sort.isDescending ? 'descending' : 'ascending'}>
                <button type="button" title={column.description.slice(0, 400)} onClick={() => onSort(column)}>
                  {column.name}
                  {!isSorted ? '' : sort.isDescending ? ' ▾' : ' ▴'}
                </button>
              </div>
            )
          })}
        </div>
      </div>
      <div class="rows-body" role="rowgroup" style={{ height: `${rows.length * rowHeight}px` }}>
        {shown.map((row, i) => {
          const index = first + i
          // The element of an index is always the same while the user scrolls, so that the focus stays in its row.
          return <TableRow key={index % size} row={row} index={index} columns={columns} href={hrefOf(row)} nowMs={nowMs} />
        })}
      </div>
    </div>
  )
}

const steps: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }

interface TableRowProps {
  readonly row: Row
  readonly index: number
  readonly columns: readonly ShownColumn[]
  readonly href: string
  readonly nowMs: number
}

function TableRow({ row, index, columns, href, nowMs }: TableRowProps) {
  return (
    <div
      class={row.isTerminating ? 'row terminating' : 'row'}
      role="row"
      aria-rowindex={index + 2}
      style={{ transform: `translateY(${index * rowHeight}px)` }}
    >
      {columns.map((column) => {
        const whole = textOf(row, column, nowMs)
        const text = whole.length > maxCellCharacters ? `${whole.slice(0, maxCellCharacters)}…` : whole
        return (
          <div role="cell" key={column.cell} title={text}>
            {column.name === 'Name' ? (
              <a href={href} data-index={index}>
                {text}
              </a>
            ) : (
              text
            )}
          </div>
        )
      })}
      {row.changedMs !== undefined && nowMs - row.changedMs < flashMs && <span class="flash" aria-hidden="true" key={row.changedMs} />}
    </div>
  )
}

function widthOf(column: ShownColumn, rows: readonly Row[]): string {
  const longest = rows.slice(0, 100).reduce((max, row) => Math.max(max, textOf(row, column, 0).length), column.name.length + 2)
  return `minmax(calc(${Math.min(Math.max(longest, 5), 42)}ch + ${cellPadding}px), ${column.name === 'Name' ? 2 : 1}fr)`
}

function textOf(row: Row, { cell, name, type }: ShownColumn, nowMs: number): string {
  if (cell === 'namespace') return row.namespace
  // The server computes ages when it sends the row.
  if (name === 'Age' && type === 'string' && Number.isFinite(row.createdMs)) return ageText(row.createdMs, nowMs)
  return cellText(row.cells[cell])
}
