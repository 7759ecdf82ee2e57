// What other servers keep that can own and be owned: followed by their discovery, and linked into the index of owners. Only what concerns owners
// is kept of an object, and nobody else waits for a server that does not answer.

import type { ApiServiceSource, ListedVersion } from '../../../api/api-services.js'
import type { RemoteDiscovery } from '../../../api/discovered.js'
import type { PieceClock } from '../../../base/pieces.js'
import type { OwnerIndex } from '../../../objects/owner-index.js'
import type { ExtensionAsker } from '../../aggregation/ask-extension.js'
import { newEnding } from '../../kit/ending.js'
import type { LoopParts } from '../../kit/loop.js'
import { isForeground, isOrphaning } from '../finalizers.js'
import { type Place, RemoteClient } from './remote-client.js'
import { lettersIn, metadataOf, type RemoteEntry } from './remote-entry.js'
import { followKind } from './remote-follower.js'
import { type RemoteKind, type RemoteKinds, referenceOf, remoteKinds, remoteParts } from './remote-kinds.js'

/** Who else answers, and what they have said. */
export interface Extensions {
  readonly services: ApiServiceSource
  readonly asker: ExtensionAsker
  readonly documents: { readonly discovery: RemoteDiscovery; onChange(listener: () => void): () => void }
}

export interface RemoteListener {
  /** An object has owners that it did not have before. */
  onOwners(key: string): void
  /** An object is gone on which others depend. */
  onGone(uid: string): void
  /** An object waits for its dependents. */
  onGoing(key: string): void
  /** More is known of what others keep: whose owners were not known is looked at again. */
  onKnown(): void
  /** A kind is not known any more. */
  onLost(apiVersion: string, kind: string): void
  /** A server answers again. */
  onBack(): void
}

export interface RemoteParts extends Pick<LoopParts, 'engine' | 'catalogs' | 'logger'> {
  readonly extensions: Extensions
  readonly index: () => OwnerIndex
  readonly listener: RemoteListener
  readonly pieces: PieceClock
  readonly now: () => number
  readonly after: (ms: number, run: () => void) => () => void
}

/** Of all servers together: objects, and letters in what is kept of them. */
const mostObjects = 200_000
const mostLetters = 64 << 20

interface Followed {
  readonly kind: RemoteKind
  readonly entries: Map<string, RemoteEntry>
  readonly ending: AbortController
  readonly running: Promise<void>
}

export class RemoteObjects {
  readonly client: RemoteClient
  readonly #parts: RemoteParts
  readonly #ending = newEnding()
  readonly #followed = new Map<string, Followed>()
  readonly #unsubscribe: readonly (() => void)[]
  readonly #resting = new Set<() => void>()
  #kinds: RemoteKinds = { byReference: new Map(), followed: new Map() }
  #nextCompare: (() => void) | undefined
  #count = 0
  #letters = 0

  constructor(parts: RemoteParts) {
    this.#parts = parts
    const { services, asker, documents } = parts.extensions
    this.client = new RemoteClient({ services, asker, identity: parts.engine.identity, signal: this.#ending.signal, now: parts.now })
    this.#unsubscribe = [
      services.onChange((current, before) => {
        this.#planCompare()
        const isBack = ({ name, isAvailable }: ListedVersion): boolean => isAvailable && before.all.get(name)?.isAvailable === false
        if (current.remotes.some(isBack)) this.#comeBack()
      }),
      documents.onChange(() => this.#planCompare()),
    ]
    this.#planCompare()
  }

  /** What a reference speaks of; undefined: no other server has told of such a kind. */
  kindOf(apiVersion: string, kind: string): RemoteKind | undefined {
    return this.#kinds.byReference.get(referenceOf(apiVersion, kind))
  }

  locate(key: string): { readonly kind: RemoteKind; readonly namespace: string; readonly name: string } | undefined {
    const kind = this.#followed.get(collectionIn(key))?.kind
    return kind && { kind, ...remoteParts(kind, key) }
  }

  look(key: string): RemoteEntry | undefined {
    return this.#followed.get(collectionIn(key))?.entries.get(key)
  }

  /** What there is now, of what is followed. */
  async lookAgain(key: string): Promise<RemoteEntry | undefined> {
    const place = this.locate(key)
    const found = place && (await this.client.read(place))
    const followed = this.#followed.get(collectionIn(key))
    if (followed === undefined) return undefined
    if (found === undefined) this.#remove(followed.entries, key)
    else this.#put(followed.entries, found)
    return found
  }

  /** Gives what became of it, which is known from now on. */
  async patch(place: Place & { readonly key: string }, changes: object): Promise<RemoteEntry | undefined> {
    const patched = await this.client.patch(place, changes)
    const followed = this.#followed.get(collectionIn(place.key))
    if (patched !== undefined && followed?.entries.get(place.key)?.uid === patched.uid) this.#put(followed.entries, patched)
    return patched
  }

  /** Keys of what has owners or waits for its dependents. */
  *concerned(): Generator<string, void, void> {
    for (const { entries } of [...this.#followed.values()])
      for (const { key, references, isGoing } of entries.values()) if (references.length > 0 || isGoing) yield key
  }

  async close(): Promise<void> {
    this.#ending.abort()
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
    this.#nextCompare?.()
    for (const end of [...this.#resting]) end()
    const all = [...this.#followed.values()]
    for (const { ending } of all) ending.abort()
    await Promise.all(all.map(({ running }) => running))
  }

  /** What is followed is compared with what discovery says, once for changes that come together. */
  #planCompare(): void {
    if (this.#ending.signal.aborted) return
    this.#nextCompare ??= this.#parts.after(0, () => {
      this.#nextCompare = undefined
      this.#compare()
    })
  }

  #compare(): void {
    const { extensions, catalogs } = this.#parts
    const { services, documents } = extensions
    const before = this.#kinds
    this.#kinds = remoteKinds(services.current, documents.discovery, catalogs.current)
    for (const [collection, followed] of this.#followed) {
      const kind = this.#kinds.followed.get(collection)
      if (kind === undefined || !isSame(kind, followed.kind)) this.#leave(collection, followed)
    }
    for (const [collection, kind] of this.#kinds.followed) if (!this.#followed.has(collection)) this.#follow(collection, kind)
    for (const [reference, { apiVersion, kind }] of before.byReference)
      if (!this.#kinds.byReference.has(reference)) this.#parts.listener.onLost(apiVersion, kind)
    if ([...this.#kinds.byReference.keys()].some((reference) => !before.byReference.has(reference))) this.#parts.listener.onKnown()
  }

  /** Whoever waits for a server that did not answer need not wait longer. */
  #comeBack(): void {
    this.client.forgetFailures()
    for (const end of [...this.#resting]) end()
    this.#parts.listener.onBack()
  }

  #follow(collection: string, kind: RemoteKind): void {
    const { logger, pieces, listener } = this.#parts
    const entries = new Map<string, RemoteEntry>()
    const ending = new AbortController()
    const fields = { loop: 'garbagecollector', resource: collection.slice(1) }
    const running = followKind(kind, {
      client: this.client,
      signal: ending.signal,
      pieces,
      rest: (ms) => this.#rest(ms, ending.signal),
      put: (entry) => this.#put(entries, entry),
      remove: (key) => this.#remove(entries, key),
      keys: () => entries.keys(),
      onListed: () => listener.onKnown(),
      onFailure: (err, againMs) => logger.info({ ...fields, err, againMs }, 'loop cannot follow objects of another server; retrying'),
    }).catch((err: unknown) => {
      logger.warn({ ...fields, err }, 'loop does not follow these objects of another server')
      this.#forget(entries)
    })
    this.#followed.set(collection, { kind, entries, ending, running })
  }

  #leave(collection: string, { entries, ending }: Followed): void {
    ending.abort()
    this.#followed.delete(collection)
    this.#forget(entries)
  }

  /** Nobody knows any more what there is, which does not mean that it is gone. */
  #forget(entries: Map<string, RemoteEntry>): void {
    for (const { key, references } of entries.values()) this.#parts.index().relink(key, references.map(uidOf), [])
    this.#count -= entries.size
    for (const entry of entries.values()) this.#letters -= lettersIn(entry)
    entries.clear()
  }

  #put(entries: Map<string, RemoteEntry>, entry: RemoteEntry): boolean {
    const { listener, index } = this.#parts
    const before = entries.get(entry.key)
    if (before === undefined && this.#count >= mostObjects) return false
    const letters = this.#letters + lettersIn(entry) - (before === undefined ? 0 : lettersIn(before))
    if (letters > mostLetters) return false
    this.#letters = letters
    if (before === undefined) this.#count += 1
    entries.set(entry.key, entry)
    const hasMore = index().relink(entry.key, (before?.references ?? []).map(uidOf), entry.references.map(uidOf))
    if (before !== undefined && before.uid !== entry.uid) this.#tellGone(before.uid)
    if (hasMore) listener.onOwners(entry.key)
    if (isWaiting(entry)) listener.onGoing(entry.key)
    return true
  }

  #remove(entries: Map<string, RemoteEntry>, key: string): void {
    const before = entries.get(key)
    if (before === undefined) return
    entries.delete(key)
    this.#count -= 1
    this.#letters -= lettersIn(before)
    this.#parts.index().relink(key, before.references.map(uidOf), [])
    this.#tellGone(before.uid)
  }

  #tellGone(uid: string): void {
    const { index, listener } = this.#parts
    index().unwatchDependents(uid)
    if (index().hasDependents(uid)) listener.onGone(uid)
  }

  #rest(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        signal.removeEventListener('abort', end)
        this.#resting.delete(end)
        resolve()
      }
      const cancel = this.#parts.after(ms, end)
      this.#resting.add(end)
      signal.addEventListener('abort', end)
    })
  }
}

const uidOf = ({ uid }: { readonly uid?: string }): string => uid ?? ''

const collectionIn = (key: string): string => key.slice(0, key.indexOf('/'))

const isWaiting = (entry: RemoteEntry): boolean => {
  const object = metadataOf(entry)
  return isForeground(object) || isOrphaning(object)
}

/** Whether what was heard of one is what would be heard of the other. */
const isSame = (a: RemoteKind, b: RemoteKind): boolean =>
  a.version.remote === b.version.remote && a.apiVersion === b.apiVersion && a.kind === b.kind && a.namespaced === b.namespaced
