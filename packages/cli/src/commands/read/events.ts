// Shows what was told about objects, the latest last.

import { defineCommand } from '../command.js'
import { type ClusterEvent, lastSeenMs, rowOfEvent } from '../event-rows.js'
import { UsageError } from '../flags.js'
import { alignRows, headerRow } from '../output/columns.js'
import { outputOf, printFlags } from '../output/print-flags.js'
import { printerFor } from '../output/printer.js'
import { chunkFlags, oneNamed } from '../targets.js'

export const command = defineCommand({
  usage: 'events [--for TYPE/NAME] [--types=Warning] [-w] [flags]',
  about: 'show what was told about objects',
  examples: ['events --for pod/web', 'events -A --types=Warning -w'],
  flags: {
    'all-namespaces': { kind: 'switch', short: 'A', help: 'in all namespaces' },
    for: { kind: 'text', help: 'only about this object' },
    types: { kind: 'list', help: 'only Normal, or only Warning' },
    watch: { kind: 'switch', short: 'w', help: 'go on showing them' },
    ...printFlags,
    ...chunkFlags,
    'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
  },
  takesNoWords: true,
  run: async ({ flags, session, io, signal }) => {
    const isAll = flags['all-namespaces']
    const wrong = flags.types.find((type) => !['normal', 'warning'].includes(type.toLowerCase()))
    if (wrong !== undefined) throw new UsageError(`valid --types are Normal and Warning, not "${wrong}"`)
    if (flags.for !== undefined && !flags.for.includes('/')) throw new UsageError('--for must be in resource/name form')
    const about = flags.for === undefined ? undefined : await oneNamed([flags.for], { session })
    const events = session.client.collection<ClusterEvent>(
      { group: '', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
      isAll ? undefined : session.namespace,
    )
    const selector =
      about === undefined ? {} : { fieldSelector: `involvedObject.kind=${about.resource.kind},involvedObject.name=${about.name}` }
    const isWanted = ({ type = '' }: ClusterEvent): boolean =>
      flags.types.length === 0 || flags.types.some((one) => one.toLowerCase() === type.toLowerCase())
    const limit = flags['chunk-size'] ?? 0
    // A watch goes on where one list ends.
    const list = flags.watch || limit <= 0 ? await events.list(selector) : undefined
    const found: ClusterEvent[] = []
    for await (const event of list?.items ?? events.items({ ...selector, limit })) found.push(event)
    const items = found.filter(isWanted).toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b))
    if (outputOf(flags) !== '') {
      const printer = printerFor({ flags, nameOf: ({ metadata }) => `event/${metadata?.name}` })
      if (!flags.watch) io.data(printer.print(items, true))
      else for (const event of items) io.data(printer.print([event], false))
      if (flags.watch) await follow((event) => io.data(printer.print([event], false)))
      return 0
    }
    const widths: number[] = []
    const rows = items.map((event) => rowOfEvent(event, Date.now(), isAll))
    const headers = headerRow([...(isAll ? ['NAMESPACE'] : []), 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'], io.style)
    if (rows.length === 0 && !flags.watch) {
      io.err(isAll ? 'No events found.\n' : `No events found in ${session.namespace} namespace.\n`)
      return 0
    }
    io.out(alignRows([...(flags['no-headers'] ? [] : [headers]), ...rows], widths))
    if (flags.watch) await follow((event) => io.out(alignRows([rowOfEvent(event, Date.now(), isAll)], widths)))
    return 0

    async function follow(show: (event: ClusterEvent) => void): Promise<void> {
      for await (const { type, object } of events.watch({ ...selector, ...(list === undefined ? {} : { since: list }), signal }))
        if ((type === 'ADDED' || type === 'MODIFIED') && isWanted(object)) show(object)
    }
  },
})
