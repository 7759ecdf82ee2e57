// Index of objects by namespace and uid of their controller, and of objects without a controller by namespace: storage keys only. A
// collection is indexed at its first use and follows every change.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { ApiObject, OwnerReference } from '@cluster-apiserver/api/api/object.js'
import type { CompiledLabelSelector } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { bytesOf, ownersOf } from '../../../objects/entry/entry-header.js'
import type { StoredObject } from '../../../objects/entry/stored-object.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { ObjectStore } from '../../../objects/object-store.js'
import { ownerReferencesIn } from '../../../objects/owner-index.js'
import type { ControllerParts } from '../../framework/controller.js'
import { pagesOf } from '../../framework/list-pages.js'
import { budgetOf } from '../../framework/timers.js'

/** Cache: several controllers read the reference for each change of a pod. */
const knownControllers = new WeakMap<StoredObject, OwnerReference>()

/** Reads the controller reference from the entry; decodes nothing else. */
export function controllerOfStored(stored: StoredObject): OwnerReference | undefined {
  const bytes = bytesOf(stored.entry)
  if (ownersOf(bytes).length === 0) return undefined
  const known = knownControllers.get(stored)
  if (known !== undefined) return known
  const found = ownerReferencesIn(bytes).find(({ controller }) => controller === true)
  if (found !== undefined) knownControllers.set(stored, found)
  return found
}

export class ControlledObjects {
  readonly #reads: Reads
  readonly #collections = new Map<string, Promise<CollectionIndex>>()
  readonly #unwatch = new Set<() => void>()

  constructor({ engine, timers, pacing }: Pick<ControllerParts, 'engine' | 'timers' | 'pacing'>) {
    this.#reads = { store: engine.store, budget: budgetOf(pacing ?? timers) }
  }

  /** Objects in the namespace of the controller whose controller has its uid, in the order of their names. */
  async controlledBy<T extends ApiObject>(resource: Resource, { namespace = '', uid = '' }: ControllerIdentity): Promise<readonly T[]> {
    return uid === '' ? [] : (await this.#indexOf(resource)).read<T>(this.#reads, bucketOf(namespace, uid))
  }

  /** Objects of the namespace that have no controller and that the selector matches, in the order of their names. */
  async withoutController<T extends ApiObject>(resource: Resource, namespace: string, selector: Matches): Promise<readonly T[]> {
    return (await this.#indexOf(resource)).read<T>(this.#reads, bucketOf(namespace, ''), selector)
  }

  close(): void {
    for (const unwatch of this.#unwatch) unwatch()
    this.#collections.clear()
  }

  #indexOf(resource: Resource): Promise<CollectionIndex> {
    return getOrInsert(this.#collections, resource.collection, () => this.#build(resource))
  }

  /** A failed build is repeated at the next use. */
  async #build(resource: Resource): Promise<CollectionIndex> {
    const { store, budget } = this.#reads
    const index = new CollectionIndex(resource)
    const changedKeys = new Set<string>()
    let isListing = true
    // A page may be older than a change that was delivered meanwhile.
    const deliver = ({ object, type }: { object: StoredObject; type: string }, previous: StoredObject | undefined): void => {
      if (isListing) changedKeys.add(object.key)
      if (previous !== undefined) index.remove(previous)
      if (type !== 'DELETED') index.add(object)
    }
    const unwatch = store.watch({ resource, namespace: '', matches: undefined, deliver })
    this.#unwatch.add(unwatch)
    try {
      for await (const page of pagesOf(store, { resource, namespace: '' }, budget))
        for (const object of page) if (!changedKeys.has(object.key)) index.add(object)
    } catch (thrown) {
      unwatch()
      this.#unwatch.delete(unwatch)
      this.#collections.delete(resource.collection)
      throw thrown
    }
    isListing = false
    return index
  }
}

interface Reads {
  readonly store: ObjectStore
  readonly budget: TurnBudget
}

type Matches = Pick<CompiledLabelSelector, 'matches'>

interface ControllerIdentity {
  readonly namespace?: string
  readonly uid?: string
}

/** Clients choose the uids of owner references: without the namespace they could name a controller of another one. Empty uid: no controller. */
const bucketOf = (namespace: string, uid: string): string => `${namespace}/${uid}`

class CollectionIndex {
  readonly #resource: Resource
  readonly #keys = new Map<string, Set<string>>()

  constructor(resource: Resource) {
    this.#resource = resource
  }

  add(object: StoredObject): void {
    getOrInsert(this.#keys, this.#bucketOf(object), () => new Set()).add(object.key)
  }

  remove(object: StoredObject): void {
    const bucket = this.#bucketOf(object)
    const keys = this.#keys.get(bucket)
    keys?.delete(object.key)
    if (keys?.size === 0) this.#keys.delete(bucket)
  }

  /** Yields to the event loop: objects that change meanwhile may be missing or in another state, and their events queue the key again. */
  async read<T extends ApiObject>({ store, budget }: Reads, bucket: string, selector?: Matches): Promise<readonly T[]> {
    const found: T[] = []
    for (const key of sortTexts([...(this.#keys.get(bucket) ?? [])])) {
      if (budget.isSpent) await budget.nextTurn()
      const stored = store.read({ resource: this.#resource, ...partsOf(this.#resource, key) })
      if (stored === undefined || selector?.matches(stored.labels()) === false || this.#bucketOf(stored) !== bucket) continue
      found.push(stored.decode(this.#resource) as T)
    }
    return found
  }

  #bucketOf(object: StoredObject): string {
    return bucketOf(partsOf(this.#resource, object.key).namespace, controllerOfStored(object)?.uid ?? '')
  }
}
