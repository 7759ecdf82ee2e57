// How it stands with the owners of an object: which are there, which are gone, and which wait until it is gone itself.

import type { Resource } from '../../api/catalog.js'
import type { OwnerReference } from '../../api/object.js'
import { keyOf } from '../../objects/keys.js'
import { resourceOfKind } from '../kit/kinds.js'
import { type RemoteKind, remoteKey } from './elsewhere/remote-kinds.js'
import { isForeground } from './finalizers.js'
import { type Dependent, type Entry, type Graph, look, read } from './graph.js'

export interface Standing {
  readonly solid: readonly OwnerReference[]
  readonly dangling: readonly OwnerReference[]
  /** Owners that are going, and wait for those that depend on them. */
  readonly waiting: readonly OwnerReference[]
}

export interface Found {
  readonly found: Entry
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
    const owners = ownersOf(graph, dependent, { found, reference, gone })
    if (owners === undefined) return undefined
    const place = { reference, owners }
    const isGone = reference.uid === gone && !isKnown(graph, dependent, place)
    const isPresent = isGone ? false : await isThere(graph, dependent, place)
    if (isPresent === undefined) return undefined
    if (!isPresent) {
      dangling.push(reference)
      if (!isGone && isLocal(owners) && dependent.resource !== undefined) graph.onStray(dependent, { uid: found.uid, reference }, owners)
    } else if (isWaiting(graph, dependent, place)) waiting.push(reference)
    else solid.push(reference)
  }
  return { solid, dangling, waiting }
}

/** Who names more owners is looked at in pieces. */
const mostAtOnce = 50

/** Whether there is nothing to do for an object: all its owners are there, and none of them is going. It reads what is known here. */
export function isSettled(graph: Graph, dependent: Dependent): boolean {
  const found = look(graph, dependent.key)
  if (found === undefined || found.isGoing) return true
  if (found.references.length > mostAtOnce) return false
  return found.references.every((reference) => {
    const owners = ownersOf(graph, dependent, { found, reference, gone: undefined })
    if (owners === undefined) return false
    const owner = look(graph, ownerKey(dependent, { reference, owners }))
    return owner !== undefined && owner.uid === reference.uid && !owner.isGoing
  })
}

/** A kind of this server, or of another one. */
type OwnerKind = Resource | RemoteKind

interface Place {
  readonly reference: OwnerReference
  readonly owners: OwnerKind
}

const isLocal = (owners: OwnerKind): owners is Resource => 'verbs' in owners

/** Where owners of that kind are kept; undefined where nobody serves the kind, or none of them can be meant. */
function ownersOf(
  graph: Graph,
  dependent: Dependent,
  { found, reference, gone }: Found & { readonly reference: OwnerReference },
): OwnerKind | undefined {
  const { apiVersion = '', kind = '' } = reference
  const owners =
    resourceOfKind(graph.catalogs.current, apiVersion, kind) ??
    graph.remotes?.kindOf(apiVersion, kind) ??
    // The definition of a kind goes right after the last object of it, and a version may be served no more: whoever was seen to go is gone.
    (reference.uid === gone ? graph.onceServed(apiVersion, kind) : undefined)
  const isInNone = dependent.resource === undefined ? !dependent.kind.namespaced : !dependent.resource.namespaced
  if (owners === undefined) graph.onUnknownKind(apiVersion, kind)
  else if (owners.namespaced && isInNone) {
    // What belongs to no namespace cannot belong to something in one.
    if (isLocal(owners) && dependent.resource !== undefined) graph.onStray(dependent, { uid: found.uid, reference }, owners)
    return undefined
  }
  return owners
}

/** An owner in a namespace is in that of its dependents. */
const ownerKey = ({ namespace }: Dependent, { reference: { name = '' }, owners }: Place): string =>
  isLocal(owners) ? keyOf(owners, namespace, name) : remoteKey(owners, namespace, name)

/** What was restored has the uid that it had. */
const isKnown = (graph: Graph, dependent: Dependent, place: Place): boolean =>
  uidAt(graph, ownerKey(dependent, place), place.owners) === place.reference.uid

const uidAt = ({ index, remotes }: Graph, key: string, owners: OwnerKind): string | undefined =>
  isLocal(owners) ? index.uidAt(key) : remotes?.look(key)?.uid

/** Nobody is taken for absent whom the store, or the server that keeps it, could know of when it is asked. Undefined: nobody can tell now. */
async function isThere(graph: Graph, dependent: Dependent, place: Place): Promise<boolean | undefined> {
  if (isKnown(graph, dependent, place)) return true
  const { reference, owners } = place
  if (!isLocal(owners)) return await isThereElsewhere(graph, dependent, { reference, owners })
  const upToDate = graph.engine.store.readIndex()
  if (!(upToDate instanceof Promise)) return false
  await upToDate
  return isKnown(graph, dependent, place)
}

async function isThereElsewhere(
  graph: Graph,
  dependent: Dependent,
  { reference, owners }: { readonly reference: OwnerReference; readonly owners: RemoteKind },
): Promise<boolean | undefined> {
  if (!graph.asksOthers) {
    graph.onElsewhere('check', dependent.key)
    return undefined
  }
  const namespace = owners.namespaced ? dependent.namespace : ''
  const found = await graph.remotes?.client.read({ kind: owners, namespace, name: reference.name ?? '' })
  return found !== undefined && found.uid === reference.uid
}

function isWaiting(graph: Graph, dependent: Dependent, place: Place): boolean {
  const key = ownerKey(dependent, place)
  if (look(graph, key)?.isGoing !== true) return false
  const { owners, reference } = place
  const { namespace } = dependent
  const name = reference.name ?? ''
  const object = read(graph, isLocal(owners) ? { key, resource: owners, namespace, name } : { key, kind: owners, namespace, name })
  return object !== undefined && isForeground(object)
}
