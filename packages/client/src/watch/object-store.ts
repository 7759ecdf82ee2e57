// The objects that an informer knows, by key and by whatever indexes the caller wants. Everything is read at once, without waiting.

import { getOrInsert } from '../base/get-or-insert.js'
import { type ApiObject, keyOf, storeKey } from './objects.js'

/** Under which values an object is found. */
export type Index<T> = (object: T) => string | readonly string[] | undefined

export interface Change<T> {
  readonly type: 'add' | 'update' | 'delete'
  /** What is now, and for a deletion what was last. */
  readonly object: T
  readonly old?: T
}

/** By which one object is told from another, and from what it was before. */
interface Version {
  readonly uid?: string | undefined
  readonly resourceVersion?: string | undefined
}

/** Servers that give no versions say nothing of whether something is as it was. */
const isSame = (known: Version | undefined, came: Version | undefined): boolean =>
  known?.resourceVersion !== undefined && known.resourceVersion === came?.resourceVersion && known.uid === came.uid

const versionOf = ({ metadata }: ApiObject): Version => ({ uid: metadata?.uid, resourceVersion: metadata?.resourceVersion })

export class ObjectStore<T extends ApiObject> {
  private readonly objects = new Map<string, T>()
  /** Which one came, where another is kept of it: that need not say so. */
  private readonly versions = new Map<string, Version>()
  private readonly indexes: ReadonlyMap<string, { readonly of: Index<T>; readonly keys: Map<string, Set<string>> }>

  constructor(indexes: { readonly [name: string]: Index<T> } = {}) {
    this.indexes = new Map(Object.entries(indexes).map(([name, of]) => [name, { of, keys: new Map() }]))
  }

  get size(): number {
    return this.objects.size
  }

  get(name: string, namespace?: string): T | undefined {
    return this.objects.get(storeKey(name, namespace))
  }

  /** All of them, or those of a namespace. */
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

  /** Those that an index has under a value. */
  byIndex(name: string, value: string): readonly T[] {
    const index = this.indexes.get(name)
    if (index === undefined) throw new TypeError(`there is no index ${JSON.stringify(name)}`)
    return [...(index.keys.get(value) ?? [])].map((key) => this.objects.get(key) as T)
  }

  /** Every value that an index knows. */
  indexValues(name: string): readonly string[] {
    return [...(this.indexes.get(name)?.keys.keys() ?? [])]
  }

  /** An object as it is now, or what is kept of the one that came. Undefined where that is what was known. */
  put(object: T, came: ApiObject = object): Change<T> | undefined {
    const key = keyOf(came)
    const old = this.objects.get(key)
    if (old !== undefined && isSame(this.cameAs(key, old), came.metadata)) return undefined
    this.objects.set(key, object)
    if (object !== came) this.versions.set(key, versionOf(came))
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

  /** Everything that there is now; what else was known is gone. The changes, those that take away first. */
  replace(objects: readonly T[], keep: (object: T) => T = (object) => object): readonly Change<T>[] {
    const uids = new Map(objects.map((object) => [keyOf(object), object.metadata?.uid]))
    const changes: (Change<T> | undefined)[] = []
    for (const [key, old] of [...this.objects]) {
      if (!uids.has(key) || uids.get(key) !== this.cameAs(key, old)?.uid) changes.push(this.remove(key))
    }
    for (const object of objects) changes.push(this.put(keep(object), object))
    return changes.filter((change) => change !== undefined)
  }

  private cameAs(key: string, kept: T): Version | undefined {
    return this.versions.get(key) ?? kept.metadata
  }

  private reindex(key: string, old: T | undefined, object: T | undefined): void {
    for (const { of, keys } of this.indexes.values()) {
      for (const value of old === undefined ? [] : valuesOf(of(old))) {
        const found = keys.get(value)
        found?.delete(key)
        if (found?.size === 0) keys.delete(value)
      }
      for (const value of object === undefined ? [] : valuesOf(of(object))) getOrInsert(keys, value, () => new Set()).add(key)
    }
  }
}

const valuesOf = (values: string | readonly string[] | undefined): readonly string[] =>
  values === undefined ? [] : typeof values === 'string' ? [values] : values
