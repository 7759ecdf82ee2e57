// Creates a single object that a command has made up from its flags.

import type { DynamicObject } from '../client/objects.js'
import type { Work } from './command.js'
import type { FlagTable } from './flags.js'
import { tellResults, writeFlags, writeUnlessDry } from './results.js'

export const createFlags = {
  ...writeFlags,
  'save-config': { kind: 'switch', help: 'nothing: objects are applied on the server’s side' },
} as const satisfies FlagTable

export async function createOne(object: DynamicObject, { session, flags, io }: Work<typeof createFlags>): Promise<number> {
  const resource = await session.resources.ofKind(object.apiVersion ?? '', object.kind ?? '')
  const namespace = resource.namespaced ? session.namespace : undefined
  const placed: DynamicObject = namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
  const collection = session.client.collection(resource, namespace)
  // What is only shown is for any namespace, unless one was named.
  const made = await writeUnlessDry(flags, session.flags.namespace === undefined ? object : placed, (terms) =>
    collection.create(placed, terms),
  )
  tellResults([{ resource, name: made.metadata?.name ?? '', what: 'created', object: made }], flags, io)
  return 0
}
