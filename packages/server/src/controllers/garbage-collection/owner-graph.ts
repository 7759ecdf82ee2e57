// Context of the garbage collector: served kinds, the owner index, and remote objects; reads and writes local and remote objects alike.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import { collectionOf, type KeyParts, partsOf } from '../../objects/object-keys.js'
import type { OwnerIndex } from '../../objects/owner-index.js'
import type { Engine } from '../../verbs/engine.js'
import type { Run } from '../framework/controller.js'
import { internalDelete, internalPatch } from '../framework/internal-call.js'
import type { Entry } from './owner-entry.js'
import { metadataOf } from './remote-groups/remote-entry.js'
import { isRemoteKey, type RemoteKind } from './remote-groups/remote-kinds.js'
import type { RemoteObjects } from './remote-groups/remote-objects.js'

export interface Graph {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly index: OwnerIndex
  /** Objects of extension API servers; undefined if they are not followed. */
  readonly remotes: RemoteObjects | undefined
  /** False for workers that must not wait for extension API servers. */
  readonly mayCallRemote: boolean
  readonly run: Run
  readonly pause: () => Promise<void>
  readonly onCrossNamespace: (dependent: LocalObject, reference: CrossNamespaceReference, owners: Resource) => void
  /** Finds a followed kind that may no longer be served. */
  readonly findFormerKind: (apiVersion: string, kind: string) => Resource | undefined
  readonly onUnknownKind: (apiVersion: string, kind: string) => void
  readonly onRemote: (task: 'check' | 'orphan', key: string) => void
}

export interface CrossNamespaceReference {
  readonly uid: string
  readonly reference: OwnerReference
}

export interface LocalObject extends KeyParts {
  readonly key: string
  readonly resource: Resource
  readonly kind?: undefined
}

interface RemoteObject extends KeyParts {
  readonly key: string
  readonly resource?: undefined
  readonly kind: RemoteKind
}

export type Dependent = LocalObject | RemoteObject

export const isCollected = ({ verbs, collection }: Resource): boolean =>
  collection !== 'events' && verbs.includes('delete') && verbs.includes('list') && verbs.includes('watch')

export function locate({ catalogs, remotes }: Pick<Graph, 'catalogs' | 'remotes'>, key: string): Dependent | undefined {
  if (isRemoteKey(key)) {
    const address = remotes?.locate(key)
    return address && { key, ...address }
  }
  const resource = catalogs.current.inCollection(collectionOf(key))
  return resource === undefined || !isCollected(resource) ? undefined : { key, resource, ...partsOf(resource, key) }
}

export const entryAt = ({ index, remotes }: Pick<Graph, 'index' | 'remotes'>, key: string): Entry | undefined =>
  isRemoteKey(key) ? remotes?.entryAt(key) : index.readOwned(key)

export function read({ engine, remotes }: Pick<Graph, 'engine' | 'remotes'>, object: Dependent): Pick<ApiObject, 'metadata'> | undefined {
  if (object.resource !== undefined) {
    const stored = engine.store.read(object)
    return stored && { metadata: stored.inAnyVersion(object.resource).metadata ?? {} }
  }
  const entry = remotes?.entryAt(object.key)
  return entry && metadataOf(entry)
}

export interface Removal {
  readonly uid: string
  readonly revision: number | string
  readonly policy: 'Orphan' | 'Foreground' | 'Background'
}

/** Throws a conflict if the object has another uid or revision. */
export async function deleteIfUnchanged(
  { engine, run, remotes }: Graph,
  object: Dependent,
  { uid, revision, policy: propagationPolicy }: Removal,
): Promise<void> {
  if (run.signal.aborted) return
  const options = { preconditions: { uid, resourceVersion: String(revision) }, propagationPolicy }
  if (object.resource === undefined) await remotes?.client.remove(object, { kind: 'DeleteOptions', apiVersion: 'v1', ...options })
  else await internalDelete(engine, { ...object, options, signal: run.signal })
}

interface MetadataChange {
  readonly uid: string
  readonly revision: number | string
  readonly changes: { readonly ownerReferences: readonly OwnerReference[] } | { readonly finalizers: readonly string[] }
}

export async function patchMetadata(
  { engine, run, remotes }: Graph,
  object: Dependent,
  { uid, revision, changes }: MetadataChange,
): Promise<{ readonly revision: number | string }> {
  const change = { metadata: { uid, resourceVersion: String(revision), ...changes } }
  if (object.resource === undefined) return (await remotes?.patch(object, change)) ?? { revision }
  return { revision: (await internalPatch(engine, { ...object, signal: run.signal }, change)) ?? revision }
}

/** Few, because all writes of one commit continue in the same event-loop iteration. */
const concurrency = 4

/** Visits every dependent, also after failures; then throws the first failure. */
export async function forEachDependent(graph: Graph, uid: string, visit: (key: string) => Promise<void>): Promise<void> {
  const { index, run } = graph
  const keys = index.dependentsOf(uid)[Symbol.iterator]()
  const failures: unknown[] = []
  const work = async (): Promise<void> => {
    for (let next = keys.next(); next.done !== true; next = keys.next()) {
      // Pause before each dependent, and start one per event-loop iteration, so that requests are not delayed.
      await graph.pause()
      await run.budget.nextTurn()
      if (run.signal.aborted) return
      try {
        await visit(next.value)
      } catch (thrown) {
        if (failures.length === 0) failures.push(thrown)
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  if (failures.length > 0) throw failures[0]
}
