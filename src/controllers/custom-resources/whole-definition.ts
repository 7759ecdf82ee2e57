// A large definition with its schemas, from which a kind is made in the turn of the event loop in which it is committed: whoever is about to commit
// that it is served has them parsed before, in pieces.

import type { Resource } from '../../api/catalog.js'
import { onceFor } from '../../base/once-for.js'
import { fieldsInSteps, mostReadAtOnce } from '../../objects/fields-in-steps.js'
import { endOfMetadata, flagsOf, leanObject } from '../../objects/lean-object.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { nullFlag, type StoredObject } from '../../objects/stored-object.js'
import type { CustomResourceDefinition } from '../../resources/apiextensions/v1.schema.js'

/** Each is used once, within a moment. */
const mostAhead = 4
const aheadOf = onceFor((_: Pick<ObjectStore, 'read'>) => new Map<string, CustomResourceDefinition>())

export function* parseAhead(
  store: Pick<ObjectStore, 'read'>,
  stored: StoredObject,
  resource: Resource,
): Generator<undefined, void, undefined> {
  if (stored.size <= mostReadAtOnce || !isPlain(stored, resource)) return
  const definition = (yield* fieldsInSteps(stored, resource)) as CustomResourceDefinition | undefined
  if (definition === undefined) return
  const known = aheadOf(store)
  if (known.size >= mostAhead) known.clear()
  known.set(stored.key, definition)
}

/** Whether a plain parse of the spec is right: the status of a new definition has a list that is null, which is no matter here. */
function isPlain(stored: StoredObject, resource: Resource): boolean {
  const flags = flagsOf(stored)
  if (flags === 0) return true
  const { value } = stored.entry
  const found = value.indexOf(':null', endOfMetadata(stored, resource))
  return flags === nullFlag && found > value.lastIndexOf(',"status":{')
}

/** `lean`: what is known of it without its schemas. */
export function wholeDefinition(
  store: Pick<ObjectStore, 'read'>,
  stored: StoredObject,
  { resource, lean }: { readonly resource: Resource; readonly lean: CustomResourceDefinition },
): CustomResourceDefinition {
  const known = aheadOf(store)
  const ahead = known.get(stored.key)
  known.delete(stored.key)
  return withSpecOf(lean, ahead) ?? (leanObject(stored, resource) as CustomResourceDefinition)
}

/** With the spec of another version of the same definition; undefined where that is another one. */
export function withSpecOf(
  lean: CustomResourceDefinition,
  other: CustomResourceDefinition | undefined,
): CustomResourceDefinition | undefined {
  const { uid, generation, deletionTimestamp } = lean.metadata ?? {}
  if (other?.metadata?.uid !== uid || generation === undefined) return undefined
  // To be deleted counts as a change, and is one of nothing else.
  const marked = deletionTimestamp !== undefined && other?.metadata?.deletionTimestamp === undefined ? 1 : 0
  if (Number(other?.metadata?.generation) + marked !== Number(generation)) return undefined
  return { ...lean, spec: other?.spec } as CustomResourceDefinition
}
