// Objects as they are and as they change, until somebody interrupts it.

import { timerMs } from '../../base/clock.js'
import type { Collection } from '../../client/collection.js'
import { follow } from '../../client/follow.js'
import { tableAccept } from '../../client/media-types.js'
import type { ApiObject, DynamicObject, ObjectList, Table, WatchEvent } from '../../client/objects.js'
import { selectQuery } from '../../client/query.js'
import type { Watchable } from '../../client/reflect.js'
import type { Requester } from '../../client/requester.js'
import { makeEvent } from '../../client/watch-event.js'
import { openWatch } from '../../client/watch-stream.js'
import type { GetWork } from '../commands/get.js'
import { durationMs, UsageError } from '../flags.js'
import { goJson } from '../output/documents.js'
import { isTable, outputOf } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'
import { fullNameOf, type Wanted } from '../targets.js'
import { linesFor, selectionOf } from './tables.js'

export async function showWatch(work: GetWork, { named, collections }: Wanted): Promise<number> {
  const { flags, io, signal, session } = work
  const [one, ...more] = [...named, ...collections]
  if (one === undefined || more.length > 0) throw new UsageError('you may only specify a single resource type')
  const name = 'name' in one ? one.name : undefined
  const { resource } = one
  const collection =
    resource.namespaced && !flags['all-namespaces'] ? one.collection.in(one.collection.namespace ?? session.namespace) : one.collection
  const selection = name === undefined ? selectionOf(work) : { fieldSelector: `metadata.name=${name}` }
  if (flags['sort-by'] !== undefined) io.err('warning: --watch or --watch-only requested, --sort-by will be ignored\n')
  const event = flags['output-watch-events'] ? '' : undefined
  const lines = linesFor(work, resource, false, event)
  const asTable = isTable(flags)
  const printer = asTable
    ? undefined
    : printerFor({
        flags,
        nameOf: (shown) => fullNameOf(resource, (((shown as DynamicObject)['object'] as ApiObject | undefined) ?? shown).metadata?.name),
        noHeaders: flags['no-headers'],
      })
  const form = outputOf(flags)
  let hasShown = false
  const shownAs = (object: ApiObject | Table, type: string): DynamicObject =>
    (event === undefined ? object : { type, object }) as DynamicObject
  const print = (object: ApiObject | Table, type: string): void => {
    if (asTable) {
      const { rows } = object as Table
      io.out(
        lines.add(
          object as Table,
          (rows ?? []).map(() => type),
        ),
      )
      return
    }
    // An event is one line of JSON, for programs that read line by line.
    if (event !== undefined && form === 'json') io.data(`{"type":"${type}","object":${goJson(object)}}\n`)
    else io.data(`${hasShown && form === 'yaml' ? '---\n' : ''}${printer?.print([shownAs(object, type)], false) ?? ''}`)
    hasShown = true
  }
  const source: Watchable<Shown> = asTable ? tablesOf(collection, session.client.requester) : collection
  if (name !== undefined && !flags['watch-only']) await collection.get(name)
  let since: ObjectList<Shown>
  if (asTable) {
    const table = await collection.table({ ...selection, include: 'Metadata' })
    since = listOf(table)
    if (!flags['watch-only'])
      io.out(
        lines.add(
          table,
          (table.rows ?? []).map(() => 'ADDED'),
        ),
      )
  } else {
    since = await collection.list(selection)
    // Columns are as wide as those that are there must have them.
    if (!flags['watch-only'] && form.startsWith('custom-columns'))
      io.data(
        printer?.print(
          since.items.map((object) => shownAs(object, 'ADDED')),
          false,
        ) ?? '',
      )
    else if (!flags['watch-only']) for (const object of since.items) print(object, 'ADDED')
  }
  const onError = (): void => io.progress('the watch was interrupted, and is begun anew')
  // Whoever bounds requests bounds the one that goes on, too.
  const ms = durationMs('request-timeout', session.flags['request-timeout'] ?? '0')
  const ending = ms > 0 ? AbortSignal.any([signal, AbortSignal.timeout(timerMs(ms))]) : signal
  for await (const { type, object } of follow<Shown>(source, { ...selection, since, signal: ending, onError })) {
    // Of what went while nobody looked only the name is known.
    const isWhole = asTable ? 'rows' in object : object.kind !== undefined
    if (type !== 'BOOKMARK' && isWhole) print(object as ApiObject | Table, type)
  }
  signal.throwIfAborted()
  return 0
}

/** An object, or a table with the one row of an object and the metadata of that. */
type Shown = ApiObject & { readonly rows?: Table['rows'] }

/** The rows of tables, listed and watched like the objects that they are about. */
function tablesOf(collection: Collection<DynamicObject>, requester: Requester): Watchable<Shown> {
  return {
    list: async (options) => listOf(await collection.table({ ...options, include: 'Metadata' })),
    openWatch: async (options) => {
      const query = { ...selectQuery(options), includeObject: 'Metadata' }
      const events = await openWatch<Table>(requester, { path: await collection.path(), query, accept: tableAccept }, options)
      return rowEvents(events)
    },
  }
}

async function* rowEvents(
  batches: AsyncIterable<readonly WatchEvent<Table>[]>,
): AsyncGenerator<readonly WatchEvent<Shown>[], void, undefined> {
  for await (const batch of batches) yield batch.map(({ type, object }) => makeEvent(type, rowsOf(object as Table)[0] ?? (object as Shown)))
}

const listOf = (table: Table): ObjectList<Shown> => ({ metadata: table.metadata ?? {}, items: rowsOf(table) })

const rowsOf = (table: Table): readonly Shown[] =>
  (table.rows ?? []).map((row) => ({ ...table, metadata: (row.object as ApiObject | undefined)?.metadata ?? {}, rows: [row] }) as Shown)
