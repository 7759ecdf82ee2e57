// Objects as they are and as they change, until somebody interrupts it.

import { tableAccept } from '../../client/media-types.js'
import type { ApiObject, DynamicObject, Table } from '../../client/objects.js'
import { openWatch } from '../../client/watch-stream.js'
import type { GetWork } from '../commands/get.js'
import { UsageError } from '../flags.js'
import { isTable, printerFor } from '../output/printer.js'
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
  const query = { ...selection } as { readonly [name: string]: string }
  const path = await collection.path()
  const event = flags['output-watch-events'] ? '' : undefined
  const lines = linesFor(work, resource, false, event)
  const asTable = isTable(flags.output)
  const printer = asTable
    ? undefined
    : printerFor({
        output: flags.output,
        nameOf: ({ metadata }) => fullNameOf(resource, metadata?.name),
        noHeaders: flags['no-headers'],
        showManagedFields: flags['show-managed-fields'],
      })
  const print = (object: ApiObject | Table, type: string): void => {
    const shown = (event === undefined ? object : { type, object }) as DynamicObject
    const text = asTable
      ? lines.add(
          object as Table,
          ((object as Table).rows ?? []).map(() => type),
        )
      : (printer?.print([shown], false) ?? '')
    const isDocument = !asTable && flags.output === 'yaml'
    if (asTable) io.out(text)
    else io.data(isDocument ? `---\n${text}` : text)
  }
  let version: string
  if (name !== undefined && !flags['watch-only']) await collection.get(name)
  if (asTable) {
    const table = await collection.table({ ...selection, include: 'Metadata' })
    if (!flags['watch-only'])
      io.out(
        lines.add(
          table,
          (table.rows ?? []).map(() => 'ADDED'),
        ),
      )
    version = table.metadata?.resourceVersion ?? ''
  } else {
    const list = await collection.list(selection)
    if (!flags['watch-only']) for (const object of list.items) print(object, 'ADDED')
    version = list.metadata.resourceVersion ?? ''
  }
  while (!signal.aborted) {
    const request = { path, query, ...(asTable ? { accept: tableAccept } : {}) }
    const events = await openWatch<ApiObject>(
      session.client.requester,
      { ...request, query: { ...query, ...(asTable ? { includeObject: 'Metadata' } : {}) } },
      { resourceVersion: version, signal },
    )
    for await (const batch of events) {
      for (const { type, object } of batch) {
        version = versionOf(object) ?? version
        if (type !== 'BOOKMARK') print(object, type)
      }
    }
  }
  return 0
}

/** Of a table, that of its row. */
function versionOf(object: ApiObject | Table): string | undefined {
  const row = ((object as Table).rows ?? [])[0]?.object as ApiObject | undefined
  return row?.metadata?.resourceVersion ?? object.metadata?.resourceVersion
}
