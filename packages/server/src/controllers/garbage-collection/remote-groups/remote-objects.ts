// Cache of the owner data of objects of extension API servers, linked into the owner index.

import type { ApiServiceSource, ListedVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { RemoteDiscovery } from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { OwnerIndex } from '../../../objects/owner-index.js'
import type { ExtensionClient } from '../../aggregation/extension-client.js'
import type { ControllerParts } from '../../framework/controller.js'
import { newAbortController } from '../../framework/timers.js'
import { isForeground, isOrphaning } from '../owner-entry.js'
import { type RemoteAddress, RemoteClient } from './remote-client.js'
import { cachedChars, metadataOf, type RemoteEntry } from './remote-entry.js'
import { type RemoteKind, type RemoteKinds, referenceOf, remoteKinds, remoteParts } from './remote-kinds.js'
import { reflectKind } from './remote-reflector.js'

export interface Extensions {
  readonly services: ApiServiceSource
  readonly extensionClient: ExtensionClient
  readonly documents: { readonly discovery: RemoteDiscovery; onChange(listener: () => void): () => void }
}

interface RemoteListener {
  onOwners(key: string): void
  onDeleted(uid: string): void
  onTerminating(key: string): void
  /** More remote kinds or objects are known: dependents with unknown owners are checked again. */
  onDiscovered(): void
  /** A remote kind is no longer discovered. */
  onKindRemoved(apiVersion: string, kind: string): void
  /** An extension API server is available again. */
  onAvailable(): void
}

interface RemoteParts extends Pick<ControllerParts, 'engine' | 'catalogs' | 'logger'> {
  readonly extensions: Extensions
  readonly index: () => OwnerIndex
  readonly listener: RemoteListener
  readonly budget: TurnBudget
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => () => void
}

/** Limits of the cache, over all servers. */
const maxObjects = 200_000
const maxChars = 64 << 20

interface FollowedKind {
  readonly kind: RemoteKind
  readonly entries: Map<string, RemoteEntry>
  readonly stop: AbortController
  readonly running: Promise<void>
}

export class RemoteObjects {
  readonly client: RemoteClient
  readonly #parts: RemoteParts
  readonly #stop = newAbortController()
  readonly #followed = new Map<string, FollowedKind>()
  readonly #unsubscribe: readonly (() => void)[]
  readonly #pausing = new Set<() => void>()
  #kinds: RemoteKinds = { byReference: new Map(), followed: new Map() }
  #nextUpdate: (() => void) | undefined
  #count = 0
  #chars = 0

  constructor(parts: RemoteParts) {
    this.#parts = parts
    const { services, extensionClient, documents } = parts.extensions
    this.client = new RemoteClient({
      services,
      extensionClient,
      identity: parts.engine.identity,
      signal: this.#stop.signal,
      now: parts.now,
    })
    this.#unsubscribe = [
      services.onChange((current, before) => {
        this.#scheduleUpdate()
        const isAvailableAgain = ({ name, isAvailable }: ListedVersion): boolean =>
          isAvailable && before.all.get(name)?.isAvailable === false
        if (current.remotes.some(isAvailableAgain)) this.#endPauses()
      }),
      documents.onChange(() => this.#scheduleUpdate()),
    ]
    this.#scheduleUpdate()
  }

  kindOf(apiVersion: string, kind: string): RemoteKind | undefined {
    return this.#kinds.byReference.get(referenceOf(apiVersion, kind))
  }

  locate(key: string): { readonly kind: RemoteKind; readonly namespace: string; readonly name: string } | undefined {
    const kind = this.#followed.get(collectionOf(key))?.kind
    return kind && { kind, ...remoteParts(kind, key) }
  }

  entryAt(key: string): RemoteEntry | undefined {
    return this.#followed.get(collectionOf(key))?.entries.get(key)
  }

  async refetch(key: string): Promise<RemoteEntry | undefined> {
    const address = this.locate(key)
    const found = address && (await this.client.read(address))
    const followed = this.#followed.get(collectionOf(key))
    if (followed === undefined) return undefined
    if (found === undefined) this.#remove(followed.entries, key)
    else this.#put(followed.entries, found)
    return found
  }

  async patch(address: RemoteAddress & { readonly key: string }, changes: object): Promise<RemoteEntry | undefined> {
    const patched = await this.client.patch(address, changes)
    const followed = this.#followed.get(collectionOf(address.key))
    if (patched !== undefined && followed?.entries.get(address.key)?.uid === patched.uid) this.#put(followed.entries, patched)
    return patched
  }

  *relevantKeys(): Generator<string, void, void> {
    for (const { entries } of [...this.#followed.values()])
      for (const { key, references, isTerminating } of entries.values()) if (references.length > 0 || isTerminating) yield key
  }

  async close(): Promise<void> {
    this.#stop.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#nextUpdate?.()
    for (const end of [...this.#pausing]) end()
    const all = [...this.#followed.values()]
    for (const { stop } of all) stop.abort()
    await Promise.all(all.map(({ running }) => running))
  }

  #scheduleUpdate(): void {
    if (this.#stop.signal.aborted) return
    this.#nextUpdate ??= this.#parts.after(0, () => {
      this.#nextUpdate = undefined
      this.#update()
    })
  }

  #update(): void {
    const { extensions, catalogs } = this.#parts
    const { services, documents } = extensions
    const before = this.#kinds
    this.#kinds = remoteKinds(services.current, documents.discovery, catalogs.current)
    for (const [collection, followed] of this.#followed) {
      const kind = this.#kinds.followed.get(collection)
      if (kind === undefined || !isSame(kind, followed.kind)) this.#unfollow(collection, followed)
    }
    for (const [collection, kind] of this.#kinds.followed) if (!this.#followed.has(collection)) this.#follow(collection, kind)
    for (const [reference, { apiVersion, kind }] of before.byReference)
      if (!this.#kinds.byReference.has(reference)) this.#parts.listener.onKindRemoved(apiVersion, kind)
    if ([...this.#kinds.byReference.keys()].some((reference) => !before.byReference.has(reference))) this.#parts.listener.onDiscovered()
  }

  /** Ends the back-off after a server is available again. */
  #endPauses(): void {
    this.client.forgetFailures()
    for (const end of [...this.#pausing]) end()
    this.#parts.listener.onAvailable()
  }

  #follow(collection: string, kind: RemoteKind): void {
    const { logger, budget, listener } = this.#parts
    const entries = new Map<string, RemoteEntry>()
    const stop = new AbortController()
    const fields = { controller: 'garbagecollector', resource: collection.slice(1) }
    const running = reflectKind(kind, {
      client: this.client,
      signal: stop.signal,
      budget,
      pause: (ms) => this.#pause(ms, stop.signal),
      put: (entry) => this.#put(entries, entry),
      remove: (key) => this.#remove(entries, key),
      keys: () => entries.keys(),
      onListed: () => listener.onDiscovered(),
      onFailure: (error, retryMs) =>
        logger.info({ ...fields, error, retryMs }, 'cannot watch objects of an extension API server; retrying'),
    }).catch((error: unknown) => {
      logger.warn({ ...fields, error }, 'objects of an extension API server are not garbage collected')
      this.#forget(entries)
    })
    this.#followed.set(collection, { kind, entries, stop, running })
  }

  #unfollow(collection: string, { entries, stop }: FollowedKind): void {
    stop.abort()
    this.#followed.delete(collection)
    this.#forget(entries)
  }

  /** Forgets the objects without reporting them as deleted. */
  #forget(entries: Map<string, RemoteEntry>): void {
    for (const { key, references } of entries.values()) this.#parts.index().relink(key, references.map(uidOf), [])
    this.#count -= entries.size
    for (const entry of entries.values()) this.#chars -= cachedChars(entry)
    entries.clear()
  }

  #put(entries: Map<string, RemoteEntry>, entry: RemoteEntry): boolean {
    const { listener, index } = this.#parts
    const before = entries.get(entry.key)
    if (before === undefined && this.#count >= maxObjects) return false
    const chars = this.#chars + cachedChars(entry) - (before === undefined ? 0 : cachedChars(before))
    if (chars > maxChars) return false
    this.#chars = chars
    if (before === undefined) this.#count += 1
    entries.set(entry.key, entry)
    const hasNewOwners = index().relink(entry.key, (before?.references ?? []).map(uidOf), entry.references.map(uidOf))
    if (before !== undefined && before.uid !== entry.uid) this.#notifyDeleted(before.uid)
    if (hasNewOwners) listener.onOwners(entry.key)
    if (isWaiting(entry)) listener.onTerminating(entry.key)
    return true
  }

  #remove(entries: Map<string, RemoteEntry>, key: string): void {
    const before = entries.get(key)
    if (before === undefined) return
    entries.delete(key)
    this.#count -= 1
    this.#chars -= cachedChars(before)
    this.#parts.index().relink(key, before.references.map(uidOf), [])
    this.#notifyDeleted(before.uid)
  }

  #notifyDeleted(uid: string): void {
    const { index, listener } = this.#parts
    index().unwatchDependents(uid)
    if (index().hasDependents(uid)) listener.onDeleted(uid)
  }

  #pause(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        signal.removeEventListener('abort', end)
        this.#pausing.delete(end)
        resolve()
      }
      const cancel = this.#parts.after(ms, end)
      this.#pausing.add(end)
      signal.addEventListener('abort', end)
    })
  }
}

const uidOf = ({ uid }: { readonly uid?: string }): string => uid ?? ''

const collectionOf = (key: string): string => key.slice(0, key.indexOf('/'))

const isWaiting = (entry: RemoteEntry): boolean => {
  const object = metadataOf(entry)
  return isForeground(object) || isOrphaning(object)
}

const isSame = (a: RemoteKind, b: RemoteKind): boolean =>
  a.version.remote === b.version.remote && a.apiVersion === b.apiVersion && a.kind === b.kind && a.namespaced === b.namespaced
