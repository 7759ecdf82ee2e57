// What all parts of the garbage collector share: the kinds that are served, here and by others, and the index of owners that follows every change.

import type { Resource } from '../../api/catalog.js'
import type { CatalogSource } from '../../api/catalog-source.js'
import type { ApiObject, OwnerReference } from '../../api/object.js'
import { collectionOf, type KeyParts, partsOf } from '../../objects/keys.js'
import { metadataOf as storedMetadata } from '../../objects/lean-object.js'
import type { OwnedEntry, OwnerIndex } from '../../objects/owner-index.js'
import type { Engine } from '../../verbs/engine.js'
import type { Run } from '../kit/loop.js'
import { metadataOf } from './elsewhere/remote-entry.js'
import { isElsewhere, type RemoteKind } from './elsewhere/remote-kinds.js'
import type { RemoteObjects } from './elsewhere/remote-objects.js'

export interface Graph {
  readonly engine: Engine
  readonly catalogs: Pick<CatalogSource, 'current'>
  readonly index: OwnerIndex
  /** What other servers keep; undefined: it is not followed. */
  readonly remotes: RemoteObjects | undefined
  /** Whether other servers may be asked here: who does not answer shall not hold up what lies in the store. */
  readonly asksOthers: boolean
  readonly run: Run
  /** Lets others have some of the time while there is much to do. */
  readonly rest: () => Promise<void>
  /** Told of an owner that is not where a dependent says. */
  readonly onStray: (dependent: LocalObject, stray: StrayReference, owners: Resource) => void
  /** A kind of this server that was followed, in whatever version, and may not be served any more. */
  readonly onceServed: (apiVersion: string, kind: string) => Resource | undefined
  /** Told of a kind of owners that nobody serves. */
  readonly onUnknownKind: (apiVersion: string, kind: string) => void
  /** Told of what is left to do where others may be asked. */
  readonly onElsewhere: (task: 'check' | 'orphan', key: string) => void
}

/** What an object says of an owner. */
export interface StrayReference {
  /** That of the object. */
  readonly uid: string
  readonly reference: OwnerReference
}

/** What an object says of itself, wherever it lies. */
export interface Entry extends Omit<OwnedEntry, 'revision'> {
  /** The version in which it was seen: whatever its server calls it. */
  readonly revision: number | string
}

/** An object of this server: where it lies. */
export interface LocalObject extends KeyParts {
  readonly key: string
  readonly resource: Resource
  readonly kind?: undefined
}

/** One of another server. */
export interface RemoteObject extends KeyParts {
  readonly key: string
  readonly resource?: undefined
  readonly kind: RemoteKind
}

/** An object that has owners. */
export type Dependent = LocalObject | RemoteObject

/** Whether objects of a kind can be owned and collected. */
export const isCollected = ({ verbs, collection }: Resource): boolean =>
  collection !== 'events' && verbs.includes('delete') && verbs.includes('list') && verbs.includes('watch')

export function locate({ catalogs, remotes }: Pick<Graph, 'catalogs' | 'remotes'>, key: string): Dependent | undefined {
  if (isElsewhere(key)) {
    const place = remotes?.locate(key)
    return place && { key, ...place }
  }
  const resource = catalogs.current.inCollection(collectionOf(key))
  return resource === undefined || !isCollected(resource) ? undefined : { key, resource, ...partsOf(resource, key) }
}

export const look = ({ index, remotes }: Pick<Graph, 'index' | 'remotes'>, key: string): Entry | undefined =>
  isElsewhere(key) ? remotes?.look(key) : index.look(key)

/** The metadata of an object, or as much of them as is known of one of another server. */
export function read({ engine, remotes }: Pick<Graph, 'engine' | 'remotes'>, object: Dependent): Pick<ApiObject, 'metadata'> | undefined {
  if (object.resource !== undefined) {
    const stored = engine.store.read(object)
    return stored && { metadata: storedMetadata(stored, object.resource) }
  }
  const entry = remotes?.look(object.key)
  return entry && metadataOf(entry)
}
