// Object store of an informer: objects by key (namespace/name) and by the caller's indexes.

import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type ApiObject, keyOf, storeKey } from '../objects/objects.js'

export type Index<T> = (object: T) => string | readonly string[] | undefined

export interface Change<T> {
  readonly type: 'add' | 'update' | 'delete'
  readonly object: T
  readonly old?: T
}

interface Version {
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** False if the server sends no resourceVersion: the object may have changed. */
const isSameVersion = (stored: Version | undefined, received: Version | undefined): boolean =>
  stored?.resourceVersion !== undefined && stored.resourceVersion === received?.resourceVersion && stored.uid === received.uid

const versionOf = ({ metadata }: ApiObject): Version => ({ uid: metadata?.uid, resourceVersion: metadata?.resourceVersion })

export class ObjectStore<T extends ApiObject> {
  private readonly objects = new Map<string, T>()
  private readonly versions = new Map<string, Version>()
  private readonly indexes: ReadonlyMap<string, { readonly computeValues: Index<T>; readonly keys: Map<string, Set<string>> }>

  constructor(indexes: { readonly [name: string]: Index<T> } = {}) {
    this.indexes = new Map(Object.entries(indexes).map(([name, computeValues]) => [name, { computeValues, keys: new Map() }]))
  }

  get size(): number {
    return this.objects.size
  }

  get(name: string, namespace?: string): T | undefined {
    return this.objects.get(storeKey(name, namespace))
  }

  list(namespace?: string): readonly T[] {
    if (namespace === undefined) return [...this.objects.values()]
    return [...this.objects.values()].filter(({ metadata }) => metadata?.namespace === namespace)
  }

  keys(): IterableIterator<string> {
    return this.objects.keys()
  }

  values(): IterableIterator<T> {
    return this.objects.values()
  }

  byIndex(name: string, value: string): readonly T[] {
    const index = this.indexes.get(name)
    if (index === undefined) throw new TypeError(`unknown index ${JSON.stringify(name)}`)
    return [...(index.keys.get(value) ?? [])].map((key) => this.objects.get(key) as T)
  }

  indexValues(name: string): readonly string[] {
    return [...(this.indexes.get(name)?.keys.keys() ?? [])]
  }

  /** Stores `object`, the transformed `received`. Returns undefined if the version is already stored. */
  put(object: T, received: ApiObject = object): Change<T> | undefined {
    const key = keyOf(received)
    const old = this.objects.get(key)
    if (old !== undefined && isSameVersion(this.receivedVersion(key, old), received.metadata)) return undefined
    this.objects.set(key, object)
    if (object !== received) this.versions.set(key, versionOf(received))
    this.reindex(key, old, object)
    return old === undefined ? { type: 'add', object } : { type: 'update', object, old }
  }

  remove(key: string, last?: T): Change<T> | undefined {
    const old = this.objects.get(key)
    if (old === undefined) return undefined
    this.objects.delete(key)
    this.versions.delete(key)
    this.reindex(key, old, undefined)
    return { type: 'delete', object: last ?? old, old }
  }

  /** Replaces all objects. Returns the changes, deletions first. */
  replace(objects: readonly T[], transform: (object: T) => T = (object) => object): readonly Change<T>[] {
    const uids = new Map(objects.map((object) => [keyOf(object), object.metadata?.uid]))
    const changes: (Change<T> | undefined)[] = []
    for (const [key, old] of [...this.objects]) {
      if (!uids.has(key) || uids.get(key) !== this.receivedVersion(key, old)?.uid) changes.push(this.remove(key))
    }
    for (const object of objects) changes.push(this.put(transform(object), object))
    return changes.filter((change) => change !== undefined)
  }

  private receivedVersion(key: string, stored: T): Version | undefined {
    return this.versions.get(key) ?? stored.metadata
  }

  private reindex(key: string, old: T | undefined, object: T | undefined): void {
    for (const { computeValues, keys } of this.indexes.values()) {
      for (const value of old === undefined ? [] : valuesOf(computeValues(old))) {
        const found = keys.get(value)
        found?.delete(key)
        if (found?.size === 0) keys.delete(value)
      }
      for (const value of object === undefined ? [] : valuesOf(computeValues(object))) getOrInsert(keys, value, () => new Set()).add(key)
    }
  }
}

const valuesOf = (values: string | readonly string[] | undefined): readonly string[] =>
  values === undefined ? [] : typeof values === 'string' ? [values] : values
