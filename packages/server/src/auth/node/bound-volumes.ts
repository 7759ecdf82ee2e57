// PersistentVolumes bound to claims and the Secrets they need, for the Node authorizer; cached until claim or volume changes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { RecentMap } from '@cluster-apiserver/api/base/recent-map.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { isPossibleName, namespacedName, volumeSecrets } from './pod-references.js'

interface BoundVolume {
  readonly claim: string | undefined
  readonly secrets: readonly string[]
}

/** Entries per cache; with names of maximum length both caches take about 50 MB. */
const maxCached = 65_536
const noVolume: BoundVolume = { claim: undefined, secrets: [] }

export class BoundVolumes {
  readonly #store: ObjectStore
  readonly #claims: Resource | undefined
  readonly #volumes: Resource | undefined
  readonly #volumeNames = new RecentMap<string, string>(maxCached)
  readonly #volumeCache = new RecentMap<string, BoundVolume>(maxCached)
  #isWatching = false

  constructor(store: ObjectStore, catalog: Catalog) {
    this.#store = store
    this.#claims = catalog.find('', 'v1', 'persistentvolumeclaims')
    this.#volumes = catalog.find('', 'v1', 'persistentvolumes')
  }

  claimOf(volume: string): string | undefined {
    return isPossibleName(volume) ? this.#volumeOf(volume).claim : undefined
  }

  /** True if the volume of a claim needs a Secret, both as `<namespace>/<name>`. The volume's claimRef must name the claim. */
  needsSecret(claim: string, secret: string): boolean {
    const name = this.#volumeNameOf(claim)
    if (name === '') return false
    const volume = this.#volumeOf(name)
    return volume.claim === claim && volume.secrets.includes(secret)
  }

  #volumeNameOf(claim: string): string {
    const cached = this.#volumeNames.get(claim)
    if (cached !== undefined) return cached
    const volumeName = this.#read<PersistentVolumeClaim>(this.#claims, claim)?.spec?.volumeName
    const name = isPossibleName(volumeName) ? volumeName : ''
    this.#volumeNames.set(claim, name)
    return name
  }

  #volumeOf(name: string): BoundVolume {
    const cached = this.#volumeCache.get(name)
    if (cached !== undefined) return cached
    const object = this.#read<PersistentVolume>(this.#volumes, name)
    const found = object === undefined ? noVolume : { claim: claimIn(object), secrets: [...volumeSecrets(object)] }
    this.#volumeCache.set(name, found)
    return found
  }

  #read<T extends PersistentVolumeClaim | PersistentVolume>(resource: Resource | undefined, name: string): T | undefined {
    this.#watchChanges()
    if (resource === undefined) return undefined
    return this.#store.read({ resource, ...partsOf(resource, `${resource.collection}/${name}`) })?.decode(resource) as T | undefined
  }

  #watchChanges(): void {
    if (this.#isWatching) return
    this.#isWatching = true
    this.#dropChanged(this.#claims, this.#volumeNames)
    this.#dropChanged(this.#volumes, this.#volumeCache)
  }

  #dropChanged(resource: Resource | undefined, cache: Pick<RecentMap<string, unknown>, 'delete'>): void {
    if (resource === undefined) return
    const start = resource.collection.length + 1
    const deliver = ({ object }: { readonly object: { readonly key: string } }): void => cache.delete(object.key.slice(start))
    this.#store.watch({ resource, namespace: '', matches: undefined, deliver })
  }
}

function claimIn({ spec }: PersistentVolume): string | undefined {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  return isPossibleName(namespace) && isPossibleName(name) ? namespacedName(namespace, name) : undefined
}
