// Changes with --local: objects of files are changed and printed without a server.

import type { ServedResource } from '@cluster-apiserver/client/discovery.js'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { splitApiVersion } from '@cluster-apiserver/client/requests/resource-ref.js'
import type { CommandContext } from '../command-line/command.js'
import { forEach } from '../command-line/errors.js'
import { type FlagTable, UsageError } from '../command-line/flags.js'
import { originOf, readManifests } from './manifests.js'
import { printResults, type Result, type ResultFlags } from './write-results.js'

export const localFlags = {
  local: { kind: 'switch', help: 'change and print objects of files without a server' },
} as const satisfies FlagTable

interface LocalFlags extends ResultFlags {
  readonly filename: readonly string[]
  readonly recursive: boolean
}

interface LocalChange {
  readonly object: DynamicObject
  readonly operation: string
}

export async function changeLocally(
  { args, io }: Pick<CommandContext, 'args' | 'io'>,
  flags: LocalFlags,
  change: (object: DynamicObject) => LocalChange | Promise<LocalChange>,
): Promise<number> {
  if (args.length > 0 || flags.filename.length === 0)
    throw new UsageError('can only use local files by -f pod.yaml or --filename=pod.json when --local=true is set')
  const results: Result[] = []
  const objects = (await readManifests(flags, io)).map((object) => ({ object, origin: originOf(object) }))
  const code = await forEach(objects, io, async ({ object }) => {
    const changed = await change(object)
    results.push({ resource: resourceFrom(object), name: object.metadata?.name ?? '', ...changed })
  })
  printResults(results, flags, io)
  return code
}

export function resourceFrom({ apiVersion = '', kind = '' }: DynamicObject): ServedResource {
  const singular = kind.toLowerCase()
  return {
    ...splitApiVersion(apiVersion),
    resource: `${singular}s`,
    singular,
    kind,
    namespaced: true,
    verbs: [],
    shortNames: [],
    categories: [],
    isPreferred: true,
    subresources: [],
  }
}
