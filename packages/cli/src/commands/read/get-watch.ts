// `get --watch`: prints objects and their changes until it is interrupted.

import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { Collection } from '@cluster-apiserver/client/collection.js'
import type { ApiObject, DynamicObject, ObjectList, Table, WatchEvent } from '@cluster-apiserver/client/objects/objects.js'
import { tableAccept } from '@cluster-apiserver/client/requests/media-types.js'
import { selectQuery } from '@cluster-apiserver/client/requests/request-options.js'
import type { Requester } from '@cluster-apiserver/client/requests/requester.js'
import type { Watchable } from '@cluster-apiserver/client/watch/reflector.js'
import { resumingWatch } from '@cluster-apiserver/client/watch/resuming-watch.js'
import { makeEvent } from '@cluster-apiserver/client/watch/watch-event.js'
import { openWatch } from '@cluster-apiserver/client/watch/watch-stream.js'
import { durationMs, UsageError } from '../../command-line/flags.js'
import { fullNameOf } from '../../objects/named-object.js'
import type { ResolvedArguments } from '../../objects/object-arguments.js'
import { goJson } from '../../output/documents.js'
import { isTable, outputOf } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'
import { type GetContext, selectionOf } from './get-flags.js'
import { linesFor } from './get-tables.js'

export async function showWatch(context: GetContext, { named, collections }: ResolvedArguments): Promise<number> {
  const { flags, io, signal, session } = context
  const [target, ...otherTargets] = [...named, ...collections]
  if (target === undefined || otherTargets.length > 0) throw new UsageError('you may only specify a single resource type')
  const name = 'name' in target ? target.name : undefined
  const { resource } = target
  const collection =
    resource.namespaced && !flags['all-namespaces']
      ? target.collection.in(target.collection.namespace ?? session.namespace)
      : target.collection
  const selection = name === undefined ? selectionOf(context) : { fieldSelector: `metadata.name=${name}` }
  if (flags['sort-by'] !== undefined) io.err('warning: --watch or --watch-only requested, --sort-by will be ignored\n')
  const event = flags['output-watch-events'] ? '' : undefined
  const lines = linesFor(context, resource, false, event)
  const asTable = isTable(flags)
  const printer = asTable
    ? undefined
    : printerFor({
        flags,
        nameOf: (printed) =>
          fullNameOf(resource, (((printed as DynamicObject)['object'] as ApiObject | undefined) ?? printed).metadata?.name),
        noHeaders: flags['no-headers'],
      })
  const format = outputOf(flags)
  let hasOutput = false
  const printedObject = (object: ApiObject | Table, type: string): DynamicObject =>
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
    if (event !== undefined && format === 'json') io.data(`{"type":"${type}","object":${goJson(object)}}\n`)
    else io.data(`${hasOutput && format === 'yaml' ? '---\n' : ''}${printer?.print([printedObject(object, type)], false) ?? ''}`)
    hasOutput = true
  }
  const source: Watchable<WatchedItem> = asTable ? tablesOf(collection, session.client.requester) : collection
  if (name !== undefined && !flags['watch-only']) await collection.get(name)
  let since: ObjectList<WatchedItem>
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
    if (!flags['watch-only'] && format.startsWith('custom-columns'))
      io.data(
        printer?.print(
          since.items.map((object) => printedObject(object, 'ADDED')),
          false,
        ) ?? '',
      )
    else if (!flags['watch-only']) for (const object of since.items) print(object, 'ADDED')
  }
  const onError = (): void => io.progress('the watch was interrupted and restarts')
  const ms = durationMs('request-timeout', session.flags['request-timeout'] ?? '0')
  const stopSignal = ms > 0 ? AbortSignal.any([signal, AbortSignal.timeout(timerMs(ms))]) : signal
  for await (const { type, object } of resumingWatch<WatchedItem>(source, { ...selection, since, signal: stopSignal, onError })) {
    // Deletions found by a new list have only a name and are not printed.
    const isComplete = asTable ? 'rows' in object : object.kind !== undefined
    if (type !== 'BOOKMARK' && isComplete) print(object as ApiObject | Table, type)
  }
  signal.throwIfAborted()
  return 0
}

type WatchedItem = ApiObject & { readonly rows?: Table['rows'] }

function tablesOf(collection: Collection<DynamicObject>, requester: Requester): Watchable<WatchedItem> {
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
): AsyncGenerator<readonly WatchEvent<WatchedItem>[], void, undefined> {
  for await (const batch of batches)
    yield batch.map(({ type, object }) => makeEvent(type, rowsOf(object as Table)[0] ?? (object as WatchedItem)))
}

const listOf = (table: Table): ObjectList<WatchedItem> => ({ metadata: table.metadata ?? {}, items: rowsOf(table) })

const rowsOf = (table: Table): readonly WatchedItem[] =>
  (table.rows ?? []).map(
    (row) => ({ ...table, metadata: (row.object as ApiObject | undefined)?.metadata ?? {}, rows: [row] }) as WatchedItem,
  )
