// Table output of `get`: server-side tables, sorting, extra columns.

import { own } from '@cluster-apiserver/api/base/own-property.js'
import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import { isNotFound } from '@cluster-apiserver/client/errors.js'
import { PageProgress } from '@cluster-apiserver/client/objects/list-pages.js'
import type { ApiObject, DynamicObject, Table } from '@cluster-apiserver/client/objects/objects.js'
import { explain } from '../../command-line/errors.js'
import type { Style } from '../../command-line/io.js'
import { fullNameOf } from '../../objects/named-object.js'
import type { ResolvedArguments } from '../../objects/object-arguments.js'
import { ageText, alignRows, type Cell, headerRow } from '../../output/columns.js'
import { sortedBy } from '../../output/sorting.js'
import { type GetContext, selectionOf } from './get-flags.js'

interface ResourceTables {
  readonly resource: ServedResource
  readonly tables: readonly Table[]
}

export async function showTables(context: GetContext, { named, collections }: ResolvedArguments): Promise<number> {
  const { flags, io, session } = context
  const fetched: ResourceTables[] = []
  let failures = 0
  const fetchOrReport = async (fetchTables: () => Promise<ResourceTables>): Promise<void> => {
    try {
      fetched.push(await fetchTables())
    } catch (thrown) {
      if (isNotFound(thrown) && flags['ignore-not-found']) return
      failures++
      io.err(explain(thrown))
    }
  }
  const include = flags['sort-by'] === undefined ? 'Metadata' : 'Object'
  for (const { resource, collection, name } of named) {
    const source = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
    await fetchOrReport(async () => ({ resource, tables: [await source.tableOf(name, { include })] }))
  }
  const merged = mergeNamed(fetched.splice(0))
  fetched.push(...merged)
  for (const { resource, collection } of collections)
    await fetchOrReport(async () => ({ resource, tables: await pagesOf(context, collection, include) }))
  const kinds = new Set([...named, ...collections].map(({ resource }) => `${resource.resource}.${resource.group}`)).size
  let hasOutput = false
  for (const { resource, tables } of fetched) {
    if (tables.every(({ rows }) => (rows ?? []).length === 0)) continue
    if (hasOutput) io.out('\n')
    hasOutput = true
    const lines = linesFor(context, resource, kinds > 1)
    io.out(lines.add(flags['server-print'] ? sortRows(tables, flags['sort-by']) : nameAndAgeTable(sortRows(tables, flags['sort-by']))))
  }
  if (!hasOutput && failures === 0 && !flags['ignore-not-found']) {
    const isNamespaced = [...named, ...collections].some(({ resource }) => resource.namespaced)
    io.err(isNamespaced && !flags['all-namespaces'] ? `No resources found in ${session.namespace} namespace.\n` : 'No resources found\n')
  }
  return failures === 0 ? 0 : 1
}

export function linesFor({ flags, io }: GetContext, resource: ServedResource, isOneOfMany: boolean, event?: string): TableLines {
  return new TableLines({
    wide: flags.output === 'wide',
    noHeaders: flags['no-headers'],
    withNamespace: flags['all-namespaces'] && resource.namespaced,
    kindPrefix: isOneOfMany || flags['show-kind'] ? fullNameOf(resource, '') : '',
    showLabels: flags['show-labels'],
    labelColumns: flags['label-columns'],
    style: io.style,
    ...(event === undefined ? {} : { event }),
  })
}

function mergeNamed(fetched: readonly ResourceTables[]): readonly ResourceTables[] {
  const byKind = new Map<ServedResource, Table[]>()
  for (const { resource, tables } of fetched) byKind.set(resource, [...(byKind.get(resource) ?? []), ...tables])
  return [...byKind].map(([resource, tables]) => {
    const [first] = tables
    return { resource, tables: first === undefined ? [] : [{ ...first, rows: tables.flatMap(({ rows }) => rows ?? []) }] }
  })
}

async function pagesOf(
  context: GetContext,
  collection: Collection<DynamicObject>,
  include: 'Metadata' | 'Object',
): Promise<readonly Table[]> {
  const tables: Table[] = []
  const limit = context.flags['chunk-size'] ?? 0
  const progress = new PageProgress()
  let next: string | undefined
  do {
    const table = await collection.table({
      ...selectionOf(context),
      include,
      ...(limit > 0 ? { limit } : {}),
      ...(next === undefined ? {} : { continue: next }),
    })
    tables.push(table)
    next = (table.metadata as { readonly continue?: string } | undefined)?.continue || undefined
    if (next !== undefined) progress.check(next, table.rows?.length ?? 0)
  } while (next !== undefined)
  return tables
}

function sortRows(tables: readonly Table[], sortBy: string | undefined): Table {
  const [first = {} as Table] = tables
  const rows = tables.flatMap((table) => table.rows ?? [])
  return { ...first, rows: sortBy === undefined ? rows : sortedBy(sortBy, rows, ({ object }) => object) }
}

function nameAndAgeTable({ rows, ...table }: Table): Table {
  const columnDefinitions = [
    { name: 'Name', type: 'string', format: 'name', description: '', priority: 0 },
    { name: 'Age', type: 'string', format: '', description: '', priority: 0 },
  ]
  return {
    ...table,
    columnDefinitions,
    rows: (rows ?? []).map((row) => {
      const { name = '', creationTimestamp } = (row.object as ApiObject | undefined)?.metadata ?? {}
      return { ...row, cells: [name, creationTimestamp === undefined ? '<unknown>' : ageText(Date.now() - Date.parse(creationTimestamp))] }
    }),
  }
}

interface TableStyle {
  readonly wide: boolean
  readonly noHeaders: boolean
  readonly withNamespace: boolean
  readonly kindPrefix: string
  readonly showLabels: boolean
  readonly labelColumns: readonly string[]
  readonly style: Style
  readonly event?: string
}

const eventWidth = 'MODIFIED'.length + 3

type Row = NonNullable<Table['rows']>[number]

class TableLines {
  private readonly options: TableStyle
  private readonly widths: number[] = []
  private shownColumns: readonly number[] = []
  private nameColumn = -1

  constructor(options: TableStyle) {
    this.options = options
  }

  /** Returns the header if it was not printed yet, and one line per row. Later tables of a watch have no column definitions. */
  add({ columnDefinitions, rows }: Table, events: readonly string[] = []): string {
    const { wide, noHeaders, style } = this.options
    const lines: (readonly Cell[])[] = []
    if (columnDefinitions !== null && columnDefinitions !== undefined && columnDefinitions.length > 0) {
      const isFirst = this.shownColumns.length === 0
      this.shownColumns = columnDefinitions.flatMap(({ priority }, i) => (wide || (priority ?? 0) === 0 ? [i] : []))
      this.nameColumn = columnDefinitions.findIndex(({ format }) => format === 'name')
      if (isFirst && !noHeaders) lines.push(headerRow(this.headers(columnDefinitions), style))
    }
    if (this.options.event !== undefined) this.widths[0] = Math.max(this.widths[0] ?? 0, eventWidth)
    for (const [i, row] of (rows ?? []).entries()) lines.push(this.cells(row, events[i]))
    return alignRows(lines, this.widths)
  }

  private headers(columns: NonNullable<Table['columnDefinitions']>): readonly string[] {
    const { event, withNamespace, showLabels, labelColumns } = this.options
    return [
      ...(event === undefined ? [] : ['EVENT']),
      ...(withNamespace ? ['NAMESPACE'] : []),
      ...this.shownColumns.map((i) => (columns[i]?.name ?? '').toUpperCase()),
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
      ...this.shownColumns.map((i) => `${i === this.nameColumn ? kindPrefix : ''}${cellText(cells?.[i])}`),
      ...labelColumns.map((label) => own(labels, label) ?? ''),
      ...(showLabels ? [labelsText(labels)] : []),
    ]
  }
}

const cellText = (cell: unknown): string =>
  cell === null || cell === undefined ? '<none>' : typeof cell === 'object' ? JSON.stringify(cell) : firstLine(String(cell))

/** Shows the first line of a multi-line cell, as kubectl does. */
function firstLine(text: string): string {
  const end = text.search(/[\f\n\r]/)
  return end < 0 ? text : `${text.slice(0, end)}...`
}

const labelsText = (labels: { readonly [name: string]: string }): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}=${value}`)
  return pairs.length === 0 ? '<none>' : pairs.join(',')
}
