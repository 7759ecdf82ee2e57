// Which volumes are bound to claims, and which secrets they need: read from the store when it is first asked for, and kept until claim or volume
// change. An object may be large, by its managed fields for example: all questions are answered in steps.

import type { Catalog, Resource } from '../../api/catalog.js'
import { RecentMap } from '../../base/recent-map.js'
import { fieldsInSteps, mostReadAtOnce } from '../../objects/fields-in-steps.js'
import { partsOf } from '../../objects/keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import type { PersistentVolume, PersistentVolumeClaim } from '../../resources/core/v1.schema.js'
import { canBeName, textOf, volumeSecrets } from './pod-references.js'

interface KnownVolume {
  /** The claim that it says it is bound to, as `<namespace>/<name>`. */
  readonly claim: string | undefined
  readonly secrets: readonly string[]
}

interface ReadObject<T> {
  readonly object: T | undefined
  readonly isCurrent: boolean
}

/** Of either; with the longest names there are, all of them take some fifty megabytes. */
const mostKept = 65_536
const noVolume: KnownVolume = { claim: undefined, secrets: [] }

export class BoundVolumes {
  readonly #store: ObjectStore
  readonly #claims: Resource | undefined
  readonly #volumes: Resource | undefined
  /** The volume that a claim names; empty: none. */
  readonly #volumeNames = new RecentMap<string, string>(mostKept)
  readonly #known = new RecentMap<string, KnownVolume>(mostKept)
  #isFollowing = false

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    this.#claims = catalog.find('', 'v1', 'persistentvolumeclaims')
    this.#volumes = catalog.find('', 'v1', 'persistentvolumes')
  }

  /** The claim that a volume says it is bound to. */
  *claimOf(volume: string): Generator<undefined, string | undefined, undefined> {
    return canBeName(volume) ? (yield* this.#volumeOf(volume)).claim : undefined
  }

  /** Whether the volume of a claim needs a secret, both as `<namespace>/<name>`. The volume must say itself that it is bound to the claim. */
  *needsSecret(claim: string, secret: string): Generator<undefined, boolean, undefined> {
    const name = yield* this.#volumeNameOf(claim)
    if (name === '') return false
    const volume = yield* this.#volumeOf(name)
    return volume.claim === claim && volume.secrets.includes(secret)
  }

  *#volumeNameOf(claim: string): Generator<undefined, string, undefined> {
    const known = this.#volumeNames.get(claim)
    if (known !== undefined) return known
    const { object, isCurrent } = yield* this.#read<PersistentVolumeClaim>(this.#claims, claim)
    const named = object?.spec?.volumeName
    const name = canBeName(named) ? named : ''
    if (isCurrent) this.#volumeNames.set(claim, name)
    return name
  }

  *#volumeOf(name: string): Generator<undefined, KnownVolume, undefined> {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const { object, isCurrent } = yield* this.#read<PersistentVolume>(this.#volumes, name)
    const found = object === undefined ? noVolume : { claim: claimIn(object), secrets: [...volumeSecrets(object)] }
    if (isCurrent) this.#known.set(name, found)
    return found
  }

  /** What is read from now on is dropped when it changes; what has changed while it was read must not be kept. */
  *#read<T extends PersistentVolumeClaim | PersistentVolume>(
    resource: Resource | undefined,
    text: string,
  ): Generator<undefined, ReadObject<T>, undefined> {
    this.#follow()
    if (resource === undefined) return { object: undefined, isCurrent: true }
    const address = { resource, ...partsOf(resource, `${resource.collection}/${text}`) }
    const stored = this.#store.read(address)
    if (stored === undefined || stored.size <= mostReadAtOnce) return { object: stored?.decode(resource) as T | undefined, isCurrent: true }
    const object = ((yield* fieldsInSteps(stored, resource)) ?? stored.decode(resource)) as T
    return { object, isCurrent: this.#store.read(address)?.revision === stored.revision }
  }

  #follow(): void {
    if (this.#isFollowing) return
    this.#isFollowing = true
    this.#forgetChanged(this.#claims, this.#volumeNames)
    this.#forgetChanged(this.#volumes, this.#known)
  }

  #forgetChanged(resource: Resource | undefined, kept: Pick<RecentMap<string, unknown>, 'delete'>): void {
    if (resource === undefined) return
    const start = resource.collection.length + 1
    const deliver = ({ object }: { readonly object: { readonly key: string } }): void => kept.delete(object.key.slice(start))
    this.#store.watch({ resource, namespace: '', matches: undefined, deliver })
  }
}

function claimIn({ spec }: PersistentVolume): string | undefined {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  return canBeName(namespace) && canBeName(name) ? textOf(namespace, name) : undefined
}
