// `events`: lists and watches events, the latest last.

import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { chunkFlags, resolveOne } from '../../objects/object-arguments.js'
import { alignRows, headerRow } from '../../output/columns.js'
import { type ClusterEvent, lastSeenMs, rowOfEvent } from '../../output/event-rows.js'
import { outputOf, printFlags } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'

export const command = defineCommand({
  usage: 'events [--for TYPE/NAME] [--types=Warning] [-w] [flags]',
  examples: ['events --for pod/web', 'events -A --types=Warning -w'],
  flags: {
    'all-namespaces': { kind: 'switch', short: 'A', help: 'all namespaces' },
    for: { kind: 'text', help: 'object of the events: TYPE/NAME' },
    types: { kind: 'list', help: 'Normal or Warning' },
    watch: { kind: 'switch', short: 'w', help: 'print new events until interrupted' },
    ...printFlags,
    ...chunkFlags,
    'no-headers': { kind: 'switch', help: 'omit the header' },
  },
  takesNoArguments: true,
  run: async ({ flags, session, io, signal }) => {
    const allNamespaces = flags['all-namespaces']
    const invalidType = flags.types.find((type) => !['normal', 'warning'].includes(type.toLowerCase()))
    if (invalidType !== undefined) throw new UsageError(`valid --types are Normal and Warning, not "${invalidType}"`)
    if (flags.for !== undefined && !flags.for.includes('/')) throw new UsageError('--for must be in resource/name form')
    const involved = flags.for === undefined ? undefined : await resolveOne([flags.for], { session })
    const events = session.client.collection<ClusterEvent>(
      { group: '', version: 'v1', resource: 'events', kind: 'Event', namespaced: true },
      allNamespaces ? undefined : session.namespace,
    )
    const selector =
      involved === undefined ? {} : { fieldSelector: `involvedObject.kind=${involved.resource.kind},involvedObject.name=${involved.name}` }
    const isWanted = ({ type = '' }: ClusterEvent): boolean =>
      flags.types.length === 0 || flags.types.some((wanted) => wanted.toLowerCase() === type.toLowerCase())
    const limit = flags['chunk-size'] ?? 0
    const list = flags.watch || limit <= 0 ? await events.list(selector) : undefined
    const found: ClusterEvent[] = []
    for await (const event of list?.items ?? events.items({ ...selector, limit })) found.push(event)
    const items = found.filter(isWanted).toSorted((a, b) => lastSeenMs(a) - lastSeenMs(b))
    if (outputOf(flags) !== '') {
      const printer = printerFor({ flags, nameOf: ({ metadata }) => `event/${metadata?.name}` })
      if (!flags.watch) io.data(printer.print(items, true))
      else for (const event of items) io.data(printer.print([event], false))
      if (flags.watch) await watchEvents((event) => io.data(printer.print([event], false)))
      return 0
    }
    const widths: number[] = []
    const rows = items.map((event) => rowOfEvent(event, Date.now(), allNamespaces))
    const headers = headerRow([...(allNamespaces ? ['NAMESPACE'] : []), 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE'], io.style)
    if (rows.length === 0 && !flags.watch) {
      io.err(allNamespaces ? 'No events found.\n' : `No events found in ${session.namespace} namespace.\n`)
      return 0
    }
    io.out(alignRows([...(flags['no-headers'] ? [] : [headers]), ...rows], widths))
    if (flags.watch) await watchEvents((event) => io.out(alignRows([rowOfEvent(event, Date.now(), allNamespaces)], widths)))
    return 0

    async function watchEvents(show: (event: ClusterEvent) => void): Promise<void> {
      for await (const { type, object } of events.watch({ ...selector, ...(list === undefined ? {} : { since: list }), signal }))
        if ((type === 'ADDED' || type === 'MODIFIED') && isWanted(object)) show(object)
    }
  },
})
