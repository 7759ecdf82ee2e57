// Shows objects: as tables of the server, as documents, as what the caller picks out of them; and goes on showing them as they change.

import { type Command, defineCommand, type Work } from '../command.js'
import type { FlagTable } from '../flags.js'
import { UsageError } from '../flags.js'
import { isTable, printFlags } from '../output/print-flags.js'
import { askRaw, rawFlags } from '../raw-request.js'
import { chunkFlags, fileFlags, readFiled, refuseWordsBesideFiles, selectFlags, type Wanted, wantedBy } from '../targets.js'

export const getFlags = {
  ...fileFlags,
  ...selectFlags,
  ...printFlags,
  output: { ...printFlags.output, help: `wide, ${printFlags.output.help}` },
  watch: { kind: 'switch', short: 'w', help: 'go on showing what changes' },
  'watch-only': { kind: 'switch', help: 'show only what changes' },
  'output-watch-events': { kind: 'switch', help: 'say what happened in each line of a watch' },
  'show-labels': { kind: 'switch', help: 'labels as the last column' },
  'label-columns': { kind: 'list', short: 'L', help: 'labels as columns' },
  'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
  'show-kind': { kind: 'switch', help: 'the kind before each name' },
  'sort-by': { kind: 'text', help: 'in the order of a field, such as .metadata.name' },
  'ignore-not-found': { kind: 'switch', help: 'what is not there is no failure' },
  ...chunkFlags,
  subresource: { kind: 'text', help: 'of a part of the object: status or scale' },
  'server-print': { kind: 'switch', initial: 'true', help: 'false: names and ages, and not the columns of the server' },
  ...rawFlags,
} as const satisfies FlagTable

export type GetWork = Work<typeof getFlags>

export const command: Command = defineCommand({
  usage: 'get (TYPE[,TYPE…] [NAME…] | TYPE/NAME… | -f FILE | --raw PATH) [flags]',
  about: 'show objects',
  examples: [
    'get pods -A -o wide',
    "get configmaps -l app=shop -o jsonpath='{.items[*].metadata.name}'",
    'get deployments -w',
    'get all',
    'get --raw /readyz?verbose',
  ],
  flags: getFlags,
  run: async (work) => {
    const { raw: path, filename: files } = work.flags
    if (path !== undefined && work.flags.output !== undefined) throw new UsageError('--raw and --output are mutually exclusive')
    if (path !== undefined) return askRaw(work, { method: 'GET', path, files })
    const { subresource } = work.flags
    if (subresource !== undefined && !['status', 'scale'].includes(subresource))
      throw new UsageError(`invalid subresource value: "${subresource}". Must be one of [status scale]`)
    if (work.flags['output-watch-events'] && !work.flags.watch && !work.flags['watch-only'])
      throw new UsageError('--output-watch-events option can only be used with --watch or --watch-only')
    const wanted = await find(work)
    if (subresource !== undefined && wanted.collections.length > 0)
      throw new UsageError('subresource cannot be used when bulk resources are specified')
    const isWatch = work.flags.watch || work.flags['watch-only']
    if (isWatch) return (await import('../show/watch.js')).showWatch(work, wanted)
    // Tables are sorted by what is in whole objects.
    if (isTable(work.flags)) return (await import('../show/tables.js')).showTables(work, wanted)
    return (await import('../show/objects.js')).showObjects(work, wanted)
  },
})

async function find(work: GetWork): Promise<Wanted> {
  const { args, flags, session } = work
  refuseWordsBesideFiles(args, flags)
  if (flags.filename.length > 0) return { named: await readFiled(flags, work), collections: [] }
  if (args.length === 0) throw new UsageError('you must specify the type of resource to get; "clusterctl api-resources" shows all')
  const wanted = await wantedBy(args, { session, allNamespaces: flags['all-namespaces'] })
  if (wanted.named.length > 0 && flags['all-namespaces'] && wanted.named.some(({ resource }) => resource.namespaced))
    throw new UsageError('a resource cannot be retrieved by name across all namespaces')
  if (wanted.named.length > 0 && flags.selector !== undefined) throw new UsageError('name cannot be provided when a selector is specified')
  return wanted
}
