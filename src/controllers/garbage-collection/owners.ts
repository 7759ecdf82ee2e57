// How it stands with the owners of an object: which are there, which are gone, and which wait until it is gone itself.

import type { Resource } from '../../api/catalog.js'
import type { OwnerReference } from '../../api/object.js'
import { keyOf } from '../../objects/keys.js'
import type { OwnedEntry } from '../../objects/owner-index.js'
import { resourceOfKind } from '../kit/kinds.js'
import { isForeground } from './finalizers.js'
import type { Dependent, Graph } from './graph.js'

export interface Standing {
  readonly solid: readonly OwnerReference[]
  readonly dangling: readonly OwnerReference[]
  /** Owners that are going, and wait for those that depend on them. */
  readonly waiting: readonly OwnerReference[]
}

export interface Found {
  readonly found: OwnedEntry
  /** The uid of an owner that is known to be gone. */
  readonly gone: string | undefined
}

/** Undefined where it cannot be told of one of them: then nothing is done. An object may name thousands, which are gone through in pieces. */
export async function standingOf(graph: Graph, dependent: Dependent, { found, gone }: Found): Promise<Standing | undefined> {
  const solid: OwnerReference[] = []
  const dangling: OwnerReference[] = []
  const waiting: OwnerReference[] = []
  for (const reference of found.references) {
    if (graph.run.pieces.isOver) await graph.run.pieces.next()
    const owners = ownersOf(graph, dependent, { found, reference })
    if (owners === undefined) return undefined
    const isGone = reference.uid === gone && !isBack(graph, dependent, { reference, owners })
    if (isGone || !(await isThere(graph, dependent, { reference, owners }))) {
      dangling.push(reference)
      if (!isGone) graph.onStray(dependent, { uid: found.uid, reference }, owners)
    } else if (isWaiting(graph, dependent, { reference, owners })) waiting.push(reference)
    else solid.push(reference)
  }
  return { solid, dangling, waiting }
}

/** Who names more owners is looked at in pieces. */
const mostAtOnce = 50

/** Whether there is nothing to do for an object: all its owners are there, and none of them is going. It reads what is known here. */
export function isSettled(graph: Graph, dependent: Dependent): boolean {
  const found = graph.index.look(dependent.key)
  if (found === undefined || found.isGoing) return true
  if (found.references.length > mostAtOnce) return false
  return found.references.every((reference) => {
    const owners = ownersOf(graph, dependent, { found, reference })
    if (owners === undefined) return false
    const owner = graph.index.look(ownerKey(dependent, { reference, owners }))
    return owner !== undefined && owner.uid === reference.uid && !owner.isGoing
  })
}

interface Place {
  readonly reference: OwnerReference
  readonly owners: Resource
}

/** Where owners of that kind are kept; undefined where nobody serves the kind, or none of them can be meant. */
function ownersOf(
  graph: Graph,
  dependent: Dependent,
  { found, reference }: { readonly found: OwnedEntry; readonly reference: OwnerReference },
): Resource | undefined {
  const { apiVersion = '', kind = '' } = reference
  const owners = resourceOfKind(graph.catalogs.current, apiVersion, kind)
  if (owners === undefined) graph.onUnknownKind(apiVersion, kind)
  else if (owners.namespaced && !dependent.resource.namespaced) {
    // What belongs to no namespace cannot belong to something in one.
    graph.onStray(dependent, { uid: found.uid, reference }, owners)
    return undefined
  }
  return owners
}

/** An owner in a namespace is in that of its dependents. */
const ownerKey = ({ namespace }: Dependent, { reference, owners }: Place): string => keyOf(owners, namespace, reference.name ?? '')

/** What was restored has the uid that it had. */
const isBack = ({ index }: Graph, dependent: Dependent, place: Place): boolean =>
  index.uidAt(ownerKey(dependent, place)) === place.reference.uid

/** Nobody is taken for absent whom the store could know of when it is asked. */
async function isThere({ engine, index }: Graph, dependent: Dependent, place: Place): Promise<boolean> {
  const key = ownerKey(dependent, place)
  const { uid } = place.reference
  if (index.uidAt(key) === uid) return true
  const upToDate = engine.store.readIndex()
  if (!(upToDate instanceof Promise)) return false
  await upToDate
  return index.uidAt(key) === uid
}

function isWaiting({ engine, index }: Graph, dependent: Dependent, place: Place): boolean {
  if (index.look(ownerKey(dependent, place))?.isGoing !== true) return false
  const { owners: resource, reference } = place
  const stored = engine.store.read({ resource, namespace: dependent.namespace, name: reference.name ?? '' })
  return stored !== undefined && isForeground(stored.inAnyVersion(resource))
}
