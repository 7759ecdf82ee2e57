// Classifies the owners of an object: existing, missing, and waiting for the object's deletion.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { keyOf } from '../../objects/object-keys.js'
import { resourceOfKind } from '../framework/find-resource.js'
import { type Entry, isForeground } from './owner-entry.js'
import { type Dependent, entryAt, type Graph, read } from './owner-graph.js'
import { type RemoteKind, remoteKey } from './remote-groups/remote-kinds.js'

interface OwnerClasses {
  readonly existing: readonly OwnerReference[]
  readonly missing: readonly OwnerReference[]
  readonly waiting: readonly OwnerReference[]
}

export interface Found {
  readonly found: Entry
  readonly deletedUid: string | undefined
}

/** Undefined if the state of an owner is unknown; then nothing is deleted. */
export async function classifyOwners(graph: Graph, dependent: Dependent, { found, deletedUid }: Found): Promise<OwnerClasses | undefined> {
  const existing: OwnerReference[] = []
  const missing: OwnerReference[] = []
  const waiting: OwnerReference[] = []
  for (const reference of found.references) {
    await graph.run.budget.yieldIfSpent()
    const owners = ownerKindOf(graph, dependent, { found, reference, deletedUid })
    if (owners === undefined) return undefined
    const owner = { reference, owners }
    const isDeleted = reference.uid === deletedUid && !isKnown(graph, dependent, owner)
    const isPresent = isDeleted ? false : await exists(graph, dependent, owner)
    if (isPresent === undefined) return undefined
    if (!isPresent) {
      missing.push(reference)
      if (!isDeleted && isLocal(owners) && dependent.resource !== undefined)
        graph.onCrossNamespace(dependent, { uid: found.uid, reference }, owners)
    } else if (isWaiting(graph, dependent, owner)) waiting.push(reference)
    else existing.push(reference)
  }
  return { existing, missing, waiting }
}

/** Objects with more owners are checked by a worker of the queue. */
const maxSyncOwners = 50

/** True if all owners exist and none is terminating, or the object itself is terminating or deleted. Makes no requests. */
export function hasAllOwners(graph: Graph, dependent: Dependent): boolean {
  const found = entryAt(graph, dependent.key)
  if (found === undefined || found.isTerminating) return true
  if (found.references.length > maxSyncOwners) return false
  return found.references.every((reference) => {
    const owners = ownerKindOf(graph, dependent, { found, reference, deletedUid: undefined })
    if (owners === undefined) return false
    const owner = entryAt(graph, ownerKey(dependent, { reference, owners }))
    return owner !== undefined && owner.uid === reference.uid && !owner.isTerminating
  })
}

type OwnerKind = Resource | RemoteKind

interface ResolvedOwner {
  readonly reference: OwnerReference
  readonly owners: OwnerKind
}

const isLocal = (owners: OwnerKind): owners is Resource => 'verbs' in owners

function ownerKindOf(
  graph: Graph,
  dependent: Dependent,
  { found, reference, deletedUid }: Found & { readonly reference: OwnerReference },
): OwnerKind | undefined {
  const { apiVersion = '', kind = '' } = reference
  const owners =
    resourceOfKind(graph.catalogs.current, apiVersion, kind) ??
    graph.remotes?.kindOf(apiVersion, kind) ??
    // The kind or version may have been removed right after the owner, whose deletion was seen.
    (reference.uid === deletedUid ? graph.findFormerKind(apiVersion, kind) : undefined)
  const isClusterScoped = dependent.resource === undefined ? !dependent.kind.namespaced : !dependent.resource.namespaced
  if (owners === undefined) graph.onUnknownKind(apiVersion, kind)
  else if (owners.namespaced && isClusterScoped) {
    // A cluster-scoped object cannot have a namespaced owner.
    if (isLocal(owners) && dependent.resource !== undefined) graph.onCrossNamespace(dependent, { uid: found.uid, reference }, owners)
    return undefined
  }
  return owners
}

/** A namespaced owner is in the namespace of its dependent. */
const ownerKey = ({ namespace }: Dependent, { reference: { name = '' }, owners }: ResolvedOwner): string =>
  isLocal(owners) ? keyOf(owners, namespace, name) : remoteKey(owners, namespace, name)

const isKnown = (graph: Graph, dependent: Dependent, owner: ResolvedOwner): boolean =>
  uidAt(graph, ownerKey(dependent, owner), owner.owners) === owner.reference.uid

const uidAt = ({ index, remotes }: Graph, key: string, owners: OwnerKind): string | undefined =>
  isLocal(owners) ? index.uidAt(key) : remotes?.entryAt(key)?.uid

/** Reads the newest state from the store or the extension server before an owner counts as missing. Undefined: unknown. */
async function exists(graph: Graph, dependent: Dependent, owner: ResolvedOwner): Promise<boolean | undefined> {
  if (isKnown(graph, dependent, owner)) return true
  const { reference, owners } = owner
  if (!isLocal(owners)) return await existsRemotely(graph, dependent, { reference, owners })
  await graph.engine.store.readIndex()
  return isKnown(graph, dependent, owner)
}

async function existsRemotely(
  graph: Graph,
  dependent: Dependent,
  { reference, owners }: { readonly reference: OwnerReference; readonly owners: RemoteKind },
): Promise<boolean | undefined> {
  if (!graph.mayCallRemote) {
    graph.onRemote('check', dependent.key)
    return undefined
  }
  const namespace = owners.namespaced ? dependent.namespace : ''
  const found = await graph.remotes?.client.read({ kind: owners, namespace, name: reference.name ?? '' })
  return found !== undefined && found.uid === reference.uid
}

function isWaiting(graph: Graph, dependent: Dependent, owner: ResolvedOwner): boolean {
  const key = ownerKey(dependent, owner)
  if (entryAt(graph, key)?.isTerminating !== true) return false
  const { owners, reference } = owner
  const { namespace } = dependent
  const name = reference.name ?? ''
  const object = read(graph, isLocal(owners) ? { key, resource: owners, namespace, name } : { key, kind: owners, namespace, name })
  return object !== undefined && isForeground(object)
}
