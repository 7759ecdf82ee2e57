// With --local: what files say is changed and shown, and no server is asked.

import type { ServedResource } from '../client/discovery.js'
import type { DynamicObject } from '../client/objects.js'
import { splitApiVersion } from '../client/resource-ref.js'
import type { Work } from './command.js'
import { forEach } from './each.js'
import { type FlagTable, UsageError } from './flags.js'
import { originOf, readManifests } from './manifests.js'
import { type Result, type ResultFlags, tellResults } from './results.js'

export const localFlags = {
  local: { kind: 'switch', help: 'change what the files say, show it, and ask no server' },
} as const satisfies FlagTable

export interface LocalFlags extends ResultFlags {
  readonly filename: readonly string[]
  readonly recursive: boolean
}

export interface LocalChange {
  readonly object: DynamicObject
  /** Such as `labeled`. */
  readonly what: string
}

/** Gives the exit code. */
export async function changeLocally(
  { args, io }: Pick<Work, 'args' | 'io'>,
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
  tellResults(results, flags, io)
  return code
}

/** As much as an object alone says of its resource: enough to name it. */
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
