// Index of pods by node and the objects they reference, for the Node authorizer; built when a kubelet first needs it, then kept current.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { VolumeAttachment } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import type { StoredObject } from '../../objects/entry/stored-object.js'
import { everything } from '../../objects/list/selection.js'
import { partsOf } from '../../objects/object-keys.js'
import type { ObjectStore } from '../../objects/object-store.js'
import { BoundVolumes } from './bound-volumes.js'
import { namespacedName, type PodReferences, type ReferenceType, referencesIn, sizeOf } from './pod-references.js'

/** Replaced by a new value when the pod changes. */
interface IndexedPod {
  readonly namespace: string
  readonly name: string
  readonly node: string
  /** Undefined if not read yet, or evicted. */
  references?: PodReferences | undefined
}

/** Approximate memory limit for references of all pods; the oldest are evicted first. */
const maxCachedBytes = 64 << 20

export interface NodePodsOptions {
  readonly cachedBytes?: number | undefined
  readonly budget?: TurnBudget
}

export class NodePods {
  readonly #store: ObjectStore
  readonly #catalog: Catalog
  readonly #resource: Resource | undefined
  readonly #volumes: BoundVolumes
  readonly #maxCachedBytes: number
  readonly #budget: TurnBudget
  readonly #byNode = new Map<string, Set<IndexedPod>>()
  readonly #pods = new Map<string, IndexedPod>()
  readonly #cached = new Set<IndexedPod>()
  #cachedBytes = 0
  #indexing: Promise<void> | undefined

  constructor(store: ObjectStore, catalog: Catalog, { cachedBytes = maxCachedBytes, budget = turnBudget }: NodePodsOptions = {}) {
    this.#store = store
    this.#catalog = catalog
    this.#maxCachedBytes = cachedBytes
    this.#budget = budget
    this.#resource = catalog.find('', 'v1', 'pods')
    this.#volumes = new BoundVolumes(store, catalog)
  }

  get cachedBytes(): number {
    return this.#cachedBytes
  }

  /** True if pods on the node reference the object; Secrets may also be needed by volumes of their claims. */
  async has(node: string, type: ReferenceType, namespace: string, name: string): Promise<boolean> {
    await this.#whenIndexed()
    const secretName = namespacedName(namespace, name)
    // A pod that changes while this loop yields is visited again: its new value is appended to the set.
    for (const pod of this.#byNode.get(node) ?? []) {
      if (pod.namespace !== namespace && type !== 'secrets') continue
      const references = this.#referencesOf(pod)
      if (pod.namespace === namespace && references[type].has(name)) return true
      if (type === 'secrets' && (await this.#isSecretOfClaims(references.claims, pod.namespace, secretName))) return true
      await this.#budget.yieldIfSpent()
    }
    return false
  }

  async hasVolume(node: string, name: string): Promise<boolean> {
    const claim = this.#volumes.claimOf(name)
    if (claim === undefined) return false
    const slash = claim.indexOf('/')
    return await this.has(node, 'claims', claim.slice(0, slash), claim.slice(slash + 1))
  }

  hasAttachment(node: string, name: string): boolean {
    const resource = this.#catalog.find(this.#catalog.identity.group({ stem: 'storage' }), 'v1', 'volumeattachments')
    const stored = resource && this.#store.read({ resource, namespace: '', name })
    return (resource && (stored?.decode(resource) as VolumeAttachment | undefined))?.spec?.nodeName === node
  }

  async #isSecretOfClaims(claims: ReadonlySet<string>, namespace: string, secret: string): Promise<boolean> {
    for (const claim of claims) {
      if (this.#volumes.needsSecret(namespacedName(namespace, claim), secret)) return true
      if (claims.size > claimsPerYield) await this.#budget.yieldIfSpent()
    }
    return false
  }

  #referencesOf(pod: IndexedPod): PodReferences {
    if (pod.references !== undefined) return pod.references
    const { namespace, name } = pod
    const resource = this.#resource
    const stored = resource && this.#store.read({ resource, namespace, name })
    const references = referencesIn((resource && (stored?.decode(resource) as Pod | undefined)) ?? {}, this.#catalog.identity)
    pod.references = references
    this.#cached.add(pod)
    this.#cachedBytes += sizeOf(references)
    for (const oldest of this.#cached) {
      if (this.#cachedBytes <= this.#maxCachedBytes) break
      this.#dropReferences(oldest)
    }
    return references
  }

  #dropReferences(pod: IndexedPod): void {
    if (pod.references !== undefined) this.#cachedBytes -= sizeOf(pod.references)
    pod.references = undefined
    this.#cached.delete(pod)
  }

  async #whenIndexed(): Promise<void> {
    const indexing = this.#indexing ?? this.#index()
    this.#indexing = indexing
    try {
      await indexing
    } catch (thrown) {
      if (this.#indexing === indexing) this.#indexing = undefined
      throw thrown
    }
  }

  async #index(): Promise<void> {
    const resource = this.#resource
    if (resource === undefined) return
    /** Keys that change during the scan; their scanned state is outdated. */
    let changed: Set<string> | undefined = new Set<string>()
    const unwatch = this.#store.watch({
      resource,
      namespace: '',
      matches: undefined,
      deliver: ({ type, object }) => {
        changed?.add(object.key)
        if (type === 'DELETED') this.#remove(object.key)
        else this.#add(resource, object)
      },
    })
    try {
      for (const object of this.#store.readInSteps({ resource, namespace: '', selection: everything })) {
        if (object !== undefined && !changed.has(object.key)) this.#add(resource, object)
        await this.#budget.yieldIfSpent()
      }
    } catch (thrown) {
      unwatch()
      throw thrown
    } finally {
      changed = undefined
    }
  }

  #add(resource: Resource, object: StoredObject): void {
    const node = object.fields(resource)?.['spec.nodeName'] ?? ''
    this.#remove(object.key)
    if (node === '') return
    const pod: IndexedPod = { ...partsOf(resource, object.key), node }
    this.#pods.set(object.key, pod)
    getOrInsert(this.#byNode, node, () => new Set()).add(pod)
  }

  #remove(key: string): void {
    const pod = this.#pods.get(key)
    if (pod === undefined) return
    this.#pods.delete(key)
    this.#dropReferences(pod)
    this.#byNode.get(pod.node)?.delete(pod)
  }
}

/** With fewer claims, checking the time budget once per pod is enough. */
const claimsPerYield = 16
