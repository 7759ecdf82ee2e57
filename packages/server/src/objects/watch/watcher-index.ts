// Index of the watchers of a collection by namespace, name, field or label: a change looks up its watchers instead of testing all.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import type { KeyRange } from '../../storage/storage.js'
import type { StoredObject } from '../entry/stored-object.js'
import { fieldOf, type Matcher, type Selection, selectionKey } from '../list/selection.js'
import type { EventBatch, WatchedChange } from './watch-events.js'

export interface ClientWatcher {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  readonly selection?: Selection
  /** The watched kind and version, as of the start of the watch. */
  readonly resource?: Resource
  readonly take: (batch: EventBatch) => void
  /** Called when no more events will be delivered, such as after a gap in the changes. */
  readonly end: () => void
  /** Called if the selection cannot be evaluated; no more events follow. */
  readonly fail: (thrown: unknown) => void
}

/** Watchers with the same range and selection. */
export interface WatcherGroup {
  readonly range: KeyRange
  readonly matches: Matcher | undefined
  /** Each watcher with the revision up to which it has seen all changes. */
  readonly watchers: Map<ClientWatcher, number>
}

/** Up to this number, testing all groups is faster than the index. */
const maxUnindexedGroups = 8

const namePath = 'metadata.name'

type Bucket = Set<WatcherGroup>

export class WatcherIndex {
  readonly #groups = new Map<unknown, WatcherGroup>()
  /** By start of the range: the whole collection, or one namespace. */
  readonly #ranges = new Map<string, RangeIndex>()

  get size(): number {
    return this.#groups.size
  }

  /** `since`: revision up to which the watcher has seen all changes. Returns a function that removes the watcher. */
  add(watcher: ClientWatcher, since: number): () => void {
    const key = groupKey(watcher)
    const group = this.#groups.get(key) ?? this.#open(key, watcher)
    group.watchers.set(watcher, since)
    return () => {
      if (group.watchers.delete(watcher) && group.watchers.size === 0) this.#close(key, group)
    }
  }

  /** Stops deliveries to the watchers of matching resources, and returns them. */
  mute(shouldMute: (resource: ClientWatcher['resource']) => boolean): ClientWatcher[] {
    const muted: ClientWatcher[] = []
    for (const { watchers } of this.#groups.values()) {
      for (const watcher of watchers.keys()) {
        if (!shouldMute(watcher.resource)) continue
        watchers.set(watcher, Number.POSITIVE_INFINITY)
        muted.push(watcher)
      }
    }
    return muted
  }

  /** Groups that may select some of the changes, each with those changes. */
  *groupsFor(changes: readonly WatchedChange[]): Generator<readonly [WatcherGroup, readonly WatchedChange[]]> {
    if (this.#groups.size <= maxUnindexedGroups) {
      for (const group of this.#groups.values()) yield [group, changes]
      return
    }
    const changesByBucket = new Map<Bucket, WatchedChange[]>()
    for (const change of changes) {
      for (const rangeIndex of this.#rangesOf(change.key)) {
        for (const bucket of rangeIndex.bucketsOf(change)) {
          const bucketChanges = getOrInsert(changesByBucket, bucket, () => [])
          // The states before and after a change may have the same bucket.
          if (bucketChanges.at(-1) !== change) bucketChanges.push(change)
        }
      }
    }
    for (const [bucket, bucketChanges] of changesByBucket) for (const group of bucket) yield [group, bucketChanges]
  }

  #open(key: unknown, watcher: ClientWatcher): WatcherGroup {
    const group: WatcherGroup = { range: watcher.range, matches: watcher.matches, watchers: new Map() }
    this.#groups.set(key, group)
    getOrInsert(this.#ranges, watcher.range.start, () => new RangeIndex()).add(group, watcher)
    return group
  }

  #close(key: unknown, group: WatcherGroup): void {
    if (this.#groups.get(key) === group) this.#groups.delete(key)
    const { start } = group.range
    const rangeIndex = this.#ranges.get(start)
    if (rangeIndex?.delete(group) === 0) this.#ranges.delete(start)
  }

  *#rangesOf(key: string): Generator<RangeIndex> {
    const first = key.indexOf('/') + 1
    const second = key.indexOf('/', first) + 1
    const collectionIndex = this.#ranges.get(key.slice(0, first))
    if (collectionIndex !== undefined) yield collectionIndex
    const namespaceIndex = second === 0 ? undefined : this.#ranges.get(key.slice(0, second))
    if (namespaceIndex !== undefined) yield namespaceIndex
  }
}

interface IndexedField {
  readonly resource: Resource
  readonly path: string
  groupCount: number
}

interface IndexTerm {
  readonly term: string
  readonly kind: 'name' | 'label' | 'field'
  readonly field?: IndexedField
}

/** The groups of one range, in buckets: by one required name, field value or label (a term), or unindexed. */
class RangeIndex {
  readonly #unindexed: Bucket = new Set()
  readonly #byTerm = new Map<string, Bucket>()
  readonly #terms = new Map<WatcherGroup, IndexTerm>()
  readonly #fields = new Map<string, IndexedField>()
  readonly #counts = { name: 0, label: 0, field: 0 }

  add(group: WatcherGroup, watcher: ClientWatcher): void {
    const indexTerm = this.#termFor(watcher)
    if (indexTerm === undefined) {
      this.#unindexed.add(group)
      return
    }
    getOrInsert(this.#byTerm, indexTerm.term, () => new Set<WatcherGroup>()).add(group)
    this.#terms.set(group, indexTerm)
    this.#counts[indexTerm.kind]++
    if (indexTerm.field === undefined) return
    indexTerm.field.groupCount++
    this.#fields.set(fieldTerm(indexTerm.field), indexTerm.field)
  }

  delete(group: WatcherGroup): number {
    const indexTerm = this.#terms.get(group)
    if (indexTerm === undefined) this.#unindexed.delete(group)
    else {
      this.#terms.delete(group)
      this.#counts[indexTerm.kind]--
      const bucket = this.#byTerm.get(indexTerm.term)
      bucket?.delete(group)
      if (bucket?.size === 0) this.#byTerm.delete(indexTerm.term)
      if (indexTerm.field !== undefined && --indexTerm.field.groupCount === 0) this.#fields.delete(fieldTerm(indexTerm.field))
    }
    return this.#unindexed.size + this.#terms.size
  }

  /** May yield the same bucket twice. */
  *bucketsOf(change: WatchedChange): Generator<Bucket> {
    if (this.#unindexed.size > 0) yield this.#unindexed
    if (this.#counts.name > 0) yield* this.#bucketOf(nameTerm(change.key.slice(change.key.lastIndexOf('/') + 1)))
    for (const object of change.states()) {
      if (this.#counts.label > 0) yield* this.#byLabels(object)
      for (const field of this.#fields.values()) yield* this.#byValue(field, object)
    }
  }

  *#bucketOf(term: string): Generator<Bucket> {
    const bucket = this.#byTerm.get(term)
    if (bucket !== undefined) yield bucket
  }

  *#byLabels(object: StoredObject): Generator<Bucket> {
    const labels = object.labels()
    for (const key in labels) {
      yield* this.#bucketOf(labelTerm(key))
      yield* this.#bucketOf(labelTerm(key, labels[key]))
    }
  }

  *#byValue(field: IndexedField, object: StoredObject): Generator<Bucket> {
    const term = fieldTerm(field)
    let value: string
    try {
      value = fieldOf(field.resource, object, field.path)
    } catch {
      // The groups of this field evaluate it again, and fail with the error.
      for (const [otherTerm, bucket] of this.#byTerm) if (otherTerm.startsWith(term)) yield bucket
      return
    }
    yield* this.#bucketOf(`${term}${value}`)
  }

  /** Of the terms that a selected object must have, the one with the fewest groups. */
  #termFor({ selection, resource }: ClientWatcher): IndexTerm | undefined {
    if (selection === undefined) return undefined
    let best: IndexTerm | undefined
    let smallest = Number.POSITIVE_INFINITY
    for (const indexTerm of this.#termsFor(selection, resource)) {
      const size = this.#byTerm.get(indexTerm.term)?.size ?? 0
      if (size < smallest) {
        best = indexTerm
        smallest = size
      }
      if (smallest === 0) break
    }
    return best
  }

  *#termsFor({ fields, labels }: Selection, resource: Resource | undefined): Generator<IndexTerm> {
    for (const { field: path, operator, value } of fields?.requirements ?? []) {
      if (operator !== '=') continue
      if (path === namePath) yield { term: nameTerm(value), kind: 'name' }
      else if (resource !== undefined) {
        const newField = { resource, path, groupCount: 0 }
        const field = this.#fields.get(fieldTerm(newField)) ?? newField
        yield { term: `${fieldTerm(field)}${value}`, kind: 'field', field }
      }
    }
    for (const { key, operator, values } of labels?.requirements ?? []) {
      if (operator === '=' || operator === '==' || (operator === 'in' && values.length === 1))
        yield { term: labelTerm(key, values[0]), kind: 'label' }
      else if (operator === 'in' || operator === 'exists') yield { term: labelTerm(key), kind: 'label' }
    }
  }
}

/** Names and label keys contain no `=`, so terms are unambiguous. */
const nameTerm = (name: string): string => `=${name}`
const labelTerm = (key: string, value?: string): string => (value === undefined ? `label ${key}` : `label ${key}=${value}`)
const fieldTerm = ({ resource, path }: IndexedField): string => `field ${numberOf(resource)} ${path}=`

/** A watcher with a matcher but without selectors is a group of its own: functions cannot be compared. */
function groupKey(watcher: ClientWatcher): unknown {
  const { range, matches, selection, resource } = watcher
  if (matches !== undefined && selection === undefined) return watcher
  const selected = selection === undefined ? '' : selectionKey(selection)
  const resourceNumber = selection?.fields === undefined || resource === undefined ? 0 : numberOf(resource)
  return `${range.start}\n${range.end}\n${resourceNumber}\n${selected}`
}

let lastNumber = 0
const numberOf = weakMemoize<object, number>(() => ++lastNumber)
