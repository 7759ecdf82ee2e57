// `get`: prints objects as tables, documents, templates or raw responses.

import { isNotFound } from '@cluster-apiserver/client/errors.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { type Command, defineCommand } from '../../command-line/command.js'
import { explain } from '../../command-line/errors.js'
import { UsageError } from '../../command-line/flags.js'
import { fullNameOf } from '../../objects/named-object.js'
import { type ResolvedArguments, readManifestObjects, rejectArgumentsWithFiles, resolveArguments } from '../../objects/object-arguments.js'
import { sendRaw } from '../../objects/raw-request.js'
import { isTable } from '../../output/print-flags.js'
import { printerFor } from '../../output/printer.js'
import { sortedBy } from '../../output/sorting.js'
import { type GetContext, getFlags, selectionOf } from './get-flags.js'

export const command: Command = defineCommand({
  usage: 'get (TYPE[,TYPE…] [NAME…] | TYPE/NAME… | -f FILE | --raw PATH) [flags]',
  examples: [
    'get pods -A -o wide',
    "get configmaps -l app=shop -o jsonpath='{.items[*].metadata.name}'",
    'get deployments -w',
    'get all',
    'get --raw /readyz?verbose',
  ],
  flags: getFlags,
  run: async (context) => {
    const { raw: path, filename: files } = context.flags
    if (path !== undefined && context.flags.output !== undefined) throw new UsageError('--raw and --output are mutually exclusive')
    if (path !== undefined) return sendRaw(context, { method: 'GET', path, files })
    const { subresource } = context.flags
    if (subresource !== undefined && !['status', 'scale'].includes(subresource))
      throw new UsageError(`invalid subresource value: "${subresource}". Must be one of [status scale]`)
    if (context.flags['output-watch-events'] && !context.flags.watch && !context.flags['watch-only'])
      throw new UsageError('--output-watch-events option can only be used with --watch or --watch-only')
    const targets = await resolveTargets(context)
    if (subresource !== undefined && targets.collections.length > 0)
      throw new UsageError('subresource cannot be used when bulk resources are specified')
    const isWatch = context.flags.watch || context.flags['watch-only']
    if (isWatch) return (await import('./get-watch.js')).showWatch(context, targets)
    if (isTable(context.flags)) return (await import('./get-tables.js')).showTables(context, targets)
    return showObjects(context, targets)
  },
})

async function resolveTargets(context: GetContext): Promise<ResolvedArguments> {
  const { args, flags, session } = context
  rejectArgumentsWithFiles(args, flags)
  if (flags.filename.length > 0) return { named: await readManifestObjects(flags, context), collections: [] }
  if (args.length === 0) throw new UsageError('you must specify the type of resource to get; "clusterctl api-resources" lists all')
  const targets = await resolveArguments(args, { session, allNamespaces: flags['all-namespaces'] })
  if (targets.named.length > 0 && flags['all-namespaces'] && targets.named.some(({ resource }) => resource.namespaced))
    throw new UsageError('a resource cannot be retrieved by name across all namespaces')
  if (targets.named.length > 0 && flags.selector !== undefined) throw new UsageError('name cannot be provided when a selector is specified')
  return targets
}

async function showObjects(context: GetContext, { named, collections }: ResolvedArguments): Promise<number> {
  const { flags, io } = context
  const found: { readonly object: DynamicObject; readonly fullName: string }[] = []
  let failures = 0
  for (const { resource, collection, name } of named) {
    const source = flags.subresource === undefined ? collection : collection.subresource(flags.subresource)
    try {
      found.push({ object: await source.get(name), fullName: fullNameOf(resource, name) })
    } catch (thrown) {
      if (isNotFound(thrown) && flags['ignore-not-found']) continue
      failures++
      io.err(explain(thrown))
    }
  }
  const limit = flags['chunk-size'] ?? 0
  for (const { resource, collection } of collections) {
    for await (const object of collection.items({ ...selectionOf(context), ...(limit > 0 ? { limit } : {}) }))
      found.push({ object, fullName: fullNameOf(resource, object.metadata?.name) })
  }
  const isList = collections.length > 0 || named.length > 1
  const names = new Map(found.map(({ object, fullName }) => [object as object, fullName]))
  const printer = printerFor({
    flags,
    nameOf: (object) => names.get(object) ?? '',
    noHeaders: flags['no-headers'],
  })
  const unsorted = found.map(({ object }) => object)
  const objects = flags['sort-by'] === undefined ? unsorted : sortedBy(flags['sort-by'], unsorted)
  if (objects.length > 0 || isList) io.data(printer.print(objects, isList))
  return failures === 0 ? 0 : 1
}
