// Tables that the server makes, as lines: which columns are shown, and what is put before and behind them.

import { own } from '../../base/own.js'
import type { ApiObject, Table } from '../../client/objects.js'
import type { Style } from '../io.js'
import { alignRows, type Cell, headerRow } from './columns.js'

export interface TableStyle {
  readonly wide: boolean
  readonly noHeaders: boolean
  /** A column with the namespace comes first. */
  readonly withNamespace: boolean
  /** Goes before each name: `configmap/`. */
  readonly kindPrefix: string
  readonly showLabels: boolean
  readonly labelColumns: readonly string[]
  readonly style: Style
  /** What happened, for watches that are to tell. */
  readonly event?: string
}

const eventWidth = 'MODIFIED'.length + 3

type Row = NonNullable<Table['rows']>[number]

export class TableLines {
  private readonly options: TableStyle
  private readonly widths: number[] = []
  private shown: readonly number[] = []
  private nameAt = -1

  constructor(options: TableStyle) {
    this.options = options
  }

  /** The header where it has not been shown yet, and a line for each row. Later tables of a watch come without definitions of columns. */
  add({ columnDefinitions, rows }: Table, events: readonly string[] = []): string {
    const { wide, noHeaders, style } = this.options
    const lines: (readonly Cell[])[] = []
    if (columnDefinitions !== null && columnDefinitions !== undefined && columnDefinitions.length > 0) {
      const isFirst = this.shown.length === 0
      this.shown = columnDefinitions.flatMap(({ priority }, i) => (wide || (priority ?? 0) === 0 ? [i] : []))
      this.nameAt = columnDefinitions.findIndex(({ format }) => format === 'name')
      if (isFirst && !noHeaders) lines.push(headerRow(this.headers(columnDefinitions), style))
    }
    // The longest word for what happened may come later.
    if (this.options.event !== undefined) this.widths[0] = Math.max(this.widths[0] ?? 0, eventWidth)
    for (const [i, row] of (rows ?? []).entries()) lines.push(this.cells(row, events[i]))
    return alignRows(lines, this.widths)
  }

  private headers(columns: NonNullable<Table['columnDefinitions']>): readonly string[] {
    const { event, withNamespace, showLabels, labelColumns } = this.options
    return [
      ...(event === undefined ? [] : ['EVENT']),
      ...(withNamespace ? ['NAMESPACE'] : []),
      ...this.shown.map((i) => (columns[i]?.name ?? '').toUpperCase()),
      ...labelColumns.map((label) => label.slice(label.lastIndexOf('/') + 1).toUpperCase()),
      ...(showLabels ? ['LABELS'] : []),
    ]
  }

  private cells({ cells, object }: Row, event: string | undefined): readonly string[] {
    const { withNamespace, kindPrefix, showLabels, labelColumns } = this.options
    const { namespace = '', labels = {} } = (object as ApiObject | undefined)?.metadata ?? {}
    return [
      ...(this.options.event === undefined ? [] : [event ?? '']),
      ...(withNamespace ? [namespace] : []),
      ...this.shown.map((i) => `${i === this.nameAt ? kindPrefix : ''}${cellText(cells?.[i])}`),
      ...labelColumns.map((label) => own(labels, label) ?? ''),
      ...(showLabels ? [labelsText(labels)] : []),
    ]
  }
}

const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? '<none>' : typeof cell === 'object' ? JSON.stringify(cell) : firstLine(String(cell))

/** A row is one line: of a longer text the first line is shown, as the original's command line does. */
function firstLine(text: string): string {
  const end = text.search(/[\f\n\r]/)
  return end < 0 ? text : `${text.slice(0, end)}...`
}

export const labelsText = (labels: { readonly [name: string]: string }): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '<none>' : pairs.join(',')
}
