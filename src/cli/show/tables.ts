// Tables of collections and of single objects, one after the other.

import type { Collection } from '../../client/collection.js'
import type { ServedResource } from '../../client/discovery.js'
import { isNotFound } from '../../client/errors.js'
import { PageProgress } from '../../client/list-pages.js'
import type { ApiObject, DynamicObject, Table } from '../../client/objects.js'
import type { GetWork } from '../commands/get.js'
import { explain } from '../failure.js'
import { ageText } from '../output/age.js'
import { TableLines } from '../output/server-table.js'
import { sortedBy } from '../output/sorting.js'
import { fullNameOf, type Wanted } from '../targets.js'

interface Shown {
  readonly resource: ServedResource
  readonly tables: readonly Table[]
}

export async function showTables(work: GetWork, { named, collections }: Wanted): Promise<number> {
  const { flags, io, session } = work
  const shown: Shown[] = []
  let failures = 0
  const tryTo = async (ask: () => Promise<Shown>): Promise<void> => {
    try {
      shown.push(await ask())
    } catch (thrown) {
      if (isNotFound(thrown) && flags['ignore-not-found']) return
      failures++
      io.err(explain(thrown))
    }
  }
  const include = flags['sort-by'] === undefined ? 'Metadata' : 'Object'
  for (const { resource, collection, name } of named) {
    const part = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
    await tryTo(async () => ({ resource, tables: [await part.tableOf(name, { include })] }))
  }
  const merged = mergeNamed(shown.splice(0))
  shown.push(...merged)
  for (const { resource, collection } of collections)
    await tryTo(async () => ({ resource, tables: await pagesOf(work, collection, include) }))
  const kinds = new Set([...named, ...collections].map(({ resource }) => `${resource.resource}.${resource.group}`)).size
  let hasOutput = false
  for (const { resource, tables } of shown) {
    if (tables.every(({ rows }) => (rows ?? []).length === 0)) continue
    if (hasOutput) io.out('\n')
    hasOutput = true
    const lines = linesFor(work, resource, kinds > 1)
    io.out(lines.add(flags['server-print'] ? sorted(tables, flags['sort-by']) : plainTable(sorted(tables, flags['sort-by']))))
  }
  if (!hasOutput && failures === 0 && !flags['ignore-not-found']) {
    const isNamespaced = [...named, ...collections].some(({ resource }) => resource.namespaced)
    io.err(isNamespaced && !flags['all-namespaces'] ? `No resources found in ${session.namespace} namespace.\n` : 'No resources found\n')
  }
  return failures === 0 ? 0 : 1
}

export function linesFor({ flags, io }: GetWork, resource: ServedResource, isOneOfMany: boolean, event?: string): TableLines {
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

/** Single objects of one kind share a table. */
function mergeNamed(shown: readonly Shown[]): readonly Shown[] {
  const byKind = new Map<ServedResource, Table[]>()
  for (const { resource, tables } of shown) byKind.set(resource, [...(byKind.get(resource) ?? []), ...tables])
  return [...byKind].map(([resource, tables]) => {
    const [first] = tables
    return { resource, tables: first === undefined ? [] : [{ ...first, rows: tables.flatMap(({ rows }) => rows ?? []) }] }
  })
}

export const selectionOf = ({ flags }: GetWork) => ({
  ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
  ...(flags['field-selector'] === undefined ? {} : { fieldSelector: flags['field-selector'] }),
})

async function pagesOf(work: GetWork, collection: Collection<DynamicObject>, include: 'Metadata' | 'Object'): Promise<readonly Table[]> {
  const tables: Table[] = []
  const limit = work.flags['chunk-size'] ?? 0
  const progress = new PageProgress()
  let next: string | undefined
  do {
    const table = await collection.table({
      ...selectionOf(work),
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

/** All pages as one table, so that its columns are as wide as they must be. */
function sorted(tables: readonly Table[], sortBy: string | undefined): Table {
  const [first = {} as Table] = tables
  const rows = tables.flatMap((table) => table.rows ?? [])
  return { ...first, rows: sortBy === undefined ? rows : sortedBy(sortBy, rows, ({ object }) => object) }
}

/** Names and ages, which every object has. */
function plainTable({ rows, ...table }: Table): Table {
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
