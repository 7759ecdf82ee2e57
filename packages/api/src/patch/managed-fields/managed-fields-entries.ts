// Reads entries of metadata.managedFields as owners of field sets, changes the owners after a write, and writes entries.
// Owners that did not change keep their entry.

import { getOrInsert } from '../../base/recent-map.js'
import { compareText } from '../../base/text-order.js'
import { compare, compareApplied, compareConverted, type Difference } from '../field-set/compare.js'
import { difference, differenceBelow, type FieldSet, leaf, nodeOf, nonEmpty, union, unionAll } from '../field-set/field-set.js'
import { canonicalElement, compareRanked, rankElement, self } from '../field-set/path-element.js'
import { reconcileFieldSet } from '../field-set/reconcile-with-schema.js'
import { isEqual, isRecord, type Members } from '../json-value.js'
import { type KindVersions, objectAt, topologyAt } from './ownable-fields.js'

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: unknown
  readonly subresource?: string
}

/** Identity of a field manager. The API version is part of it for updates, not for applies. */
export interface OwnerIdentity {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

export interface FieldOwner extends OwnerIdentity {
  readonly time: string | undefined
  readonly set: FieldSet | undefined
  readonly entry: ManagedFieldsEntry | undefined
}

export const isSameOwner = (a: OwnerIdentity, b: OwnerIdentity): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** Lists the properties, because a spread is ten times slower. */
export const ownerOf = (identity: OwnerIdentity, set: FieldSet | undefined, time: string | undefined): FieldOwner => ({
  manager: identity.manager,
  operation: identity.operation,
  apiVersion: identity.apiVersion,
  subresource: identity.subresource,
  time,
  set,
  entry: undefined,
})

export const withSet = (owner: FieldOwner, set: FieldSet | undefined): FieldOwner =>
  set === owner.set ? owner : ownerOf(owner, set, owner.time)

export const compareOwners = (a: OwnerIdentity, b: OwnerIdentity): number => compareText(identityText(a), identityText(b))

const identityText = ({ manager, operation, apiVersion, subresource }: OwnerIdentity): string =>
  JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  })

export const readStoredEntries = (entries: readonly ManagedFieldsEntry[] | undefined): readonly FieldOwner[] =>
  readEntries(entries ?? [], (fieldsV1) => ({ set: isRecord(fieldsV1) ? nonEmpty(fieldsV1 as FieldSet) : undefined })) ?? []

/** Returns undefined if any entry is invalid. */
export const readSentEntries = (entries: readonly ManagedFieldsEntry[]): readonly FieldOwner[] | undefined =>
  readEntries(entries, readFieldsV1)

type ReadSet = (fieldsV1: unknown) => { readonly set: FieldSet | undefined } | undefined

function readEntries(entries: readonly ManagedFieldsEntry[], readSet: ReadSet): readonly FieldOwner[] | undefined {
  const owners: FieldOwner[] = []
  const indexes = entries.length > fewEntries ? new Map<string, number>() : undefined
  const reading: Reading = { owners, indexes, setsToMerge: undefined }
  for (const entry of entries) {
    const { operation, apiVersion = '' } = entry
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || entry.fieldsType !== 'FieldsV1') return undefined
    const parsed = readSet(entry.fieldsV1)
    if (parsed === undefined) return undefined
    addOwner(reading, {
      manager: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      set: parsed.set,
      entry: parsed.set === entry.fieldsV1 ? entry : undefined,
    })
  }
  if (reading.setsToMerge !== undefined) mergeSets(owners, reading.setsToMerge)
  return owners
}

/** Maximum number of entries for which a scan is faster than a map. */
const fewEntries = 16

interface Reading {
  readonly owners: FieldOwner[]
  readonly indexes: Map<string, number> | undefined
  setsToMerge: Map<number, (FieldSet | undefined)[]> | undefined
}

function mergeSets(owners: FieldOwner[], setsToMerge: NonNullable<Reading['setsToMerge']>): void {
  for (const [index, sets] of setsToMerge) {
    const owner = owners[index] as FieldOwner
    owners[index] = ownerOf(owner, unionAll(sets), owner.time)
  }
}

/** Merges entries of the same owner; the last one gives the time. */
function addOwner(reading: Reading, owner: FieldOwner): void {
  const { owners, indexes } = reading
  const identity = indexes === undefined ? '' : identityText(owner)
  const index = indexes === undefined ? owners.findIndex((other) => isSameOwner(other, owner)) : (indexes.get(identity) ?? -1)
  if (index < 0) {
    indexes?.set(identity, owners.length)
    owners.push(owner)
    return
  }
  reading.setsToMerge ??= new Map()
  getOrInsert(reading.setsToMerge, index, () => [(owners[index] as FieldOwner).set]).push(owner.set)
  owners[index] = owner
}

export function ownersExcept(owners: readonly FieldOwner[], excluded: FieldOwner | undefined): readonly FieldOwner[] {
  if (excluded === undefined) return owners
  const others: FieldOwner[] = []
  for (const owner of owners) if (owner !== excluded) others.push(owner)
  return others
}

/** Sorts applies before updates, then by time, manager, version and subresource. Returns `before` if nothing changed. */
export function writeEntries(
  owners: readonly FieldOwner[],
  before?: readonly ManagedFieldsEntry[] | undefined,
): readonly ManagedFieldsEntry[] | undefined {
  const entries: ManagedFieldsEntry[] = []
  for (const owner of owners) if (owner.set !== undefined) entries.push(owner.entry ?? entryOf(owner))
  if (entries.length === 0) return undefined
  if (entries.length > 1) entries.sort(compareEntries)
  return before !== undefined && areSameEntries(entries, before) ? before : entries
}

function areSameEntries(a: readonly ManagedFieldsEntry[], b: readonly ManagedFieldsEntry[]): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

function entryOf({ manager, operation, apiVersion, time, set, subresource }: FieldOwner): ManagedFieldsEntry {
  if (time !== undefined && subresource === '') return { manager, operation, apiVersion, time, fieldsType: 'FieldsV1', fieldsV1: set }
  return {
    manager,
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: set,
    ...(subresource === '' ? {} : { subresource }),
  }
}

function compareEntries(a: ManagedFieldsEntry, b: ManagedFieldsEntry): number {
  return (
    compareText(a.operation ?? '', b.operation ?? '') ||
    secondsOf(a.time) - secondsOf(b.time) ||
    compareText(a.manager ?? '', b.manager ?? '') ||
    compareText(a.apiVersion ?? '', b.apiVersion ?? '') ||
    compareText(a.subresource ?? '', b.subresource ?? '')
  )
}

/** Returns seconds since 1970; 0 without a time. */
const secondsOf = (time: string | undefined): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0)

/** One empty entry resets all ownership. */
export const isReset = (entries: readonly ManagedFieldsEntry[] | undefined): boolean =>
  entries?.length === 1 && Object.values(entries[0] as object).every((value) => value === undefined || value === '')

/** Equality except for times: a write that changes only times is a no-op. */
export function isSameButForTimes(a: readonly ManagedFieldsEntry[] | undefined, b: readonly ManagedFieldsEntry[] | undefined): boolean {
  if (a === undefined || b === undefined) return (a ?? b ?? []).length === 0
  return a.length === b.length && a.every((entry, i) => isSameButForTime(entry, b[i] as ManagedFieldsEntry))
}

const isSameButForTime = (a: ManagedFieldsEntry, b: ManagedFieldsEntry): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.apiVersion === b.apiVersion &&
  a.fieldsType === b.fieldsType &&
  a.subresource === b.subresource &&
  (a.fieldsV1 === b.fieldsV1 || isEqual(a.fieldsV1, b.fieldsV1))

export function readFieldsV1(value: unknown): { readonly set: FieldSet | undefined } | undefined {
  const node = value === undefined ? leaf : readNode(value, 0)
  return node && { set: nonEmpty(node) }
}

/** Maximum depth of a set that a client sends: readers recurse. */
const maxDepth = 256

function readNode(value: unknown, depth: number): FieldSet | undefined {
  if (!isRecord(value) || depth > maxDepth) return undefined
  const children = new Map<string, FieldSet>()
  let member = false
  for (const name in value) {
    if (name === self) {
      member = true
      continue
    }
    const element = canonicalElement(name)
    if (element === undefined) return undefined
    if (element === 'unknown') continue
    const node = readNode(value[name], depth + 1)
    if (node === undefined) return undefined
    children.set(element, union(children.get(element), node) ?? leaf)
  }
  const sorted = [...children].map(([element, node]) => ({ ...rankElement(element), node })).sort(compareRanked)
  return nodeOf(member || sorted.length === 0, sorted)
}

const maxUpdateOwners = 10
const ancientChanges = 'ancient-changes'

interface Bucket {
  readonly sets: (FieldSet | undefined)[]
  time: string | undefined
}

/** Merges the oldest update entries of each API version into `ancient-changes`, until ten update entries remain, if possible. */
export function capUpdateOwners(owners: readonly FieldOwner[]): readonly FieldOwner[] {
  const updaters = owners.filter((owner) => owner.operation === 'Update' && owner.set !== undefined)
  if (updaters.length <= maxUpdateOwners) return owners
  const oldestFirst = updaters.sort((a, b) => secondsOf(a.time) - secondsOf(b.time) || compareOwners(a, b))
  let excess = updaters.length - maxUpdateOwners
  const firstOfVersion = new Map<string, FieldOwner>()
  const buckets = new Map<string, Bucket>()
  const moved = new Set<FieldOwner>()
  for (const owner of oldestFirst) {
    if (excess === 0) break
    if (moved.has(owner)) continue
    const first = firstOfVersion.get(owner.apiVersion)
    // A single entry of a version stays: renaming it would not reduce the number of entries.
    if (first === undefined) firstOfVersion.set(owner.apiVersion, owner)
    else {
      moveInto(buckets, { owners, moved, first, owner })
      excess--
    }
  }
  const merged = [...buckets].map(([apiVersion, { sets, time }]) =>
    ownerOf({ manager: ancientChanges, operation: 'Update', apiVersion, subresource: '' }, unionAll(sets), time),
  )
  return [...owners.filter((owner) => !moved.has(owner)), ...merged]
}

interface Move {
  readonly owners: readonly FieldOwner[]
  readonly moved: Set<FieldOwner>
  readonly first: FieldOwner
  readonly owner: FieldOwner
}

/** Moves an owner into the `ancient-changes` entry of its version; creates that entry from the existing one or the first owner. */
function moveInto(buckets: Map<string, Bucket>, { owners, moved, first, owner }: Move): void {
  const { apiVersion } = owner
  const existing = buckets.get(apiVersion)
  const bucket: Bucket = existing ?? { sets: [], time: undefined }
  if (existing === undefined) {
    const ancient = owners.find((other) =>
      isSameOwner(other, { manager: ancientChanges, operation: 'Update', apiVersion, subresource: '' }),
    )
    const former = ancient === undefined || ancient === owner ? first : ancient
    bucket.sets.push(former.set)
    moved.add(former)
  }
  bucket.sets.push(owner.set)
  bucket.time = owner.time
  moved.add(owner)
  buckets.delete(apiVersion)
  buckets.set(apiVersion, bucket)
}

interface Write {
  readonly kind: KindVersions
  readonly live: Members | undefined
  readonly next: Members
  readonly ignored: FieldSet | undefined
  /** The write is an apply: nulls and zeros count if the configuration contains them. */
  readonly isApplied: boolean
}

/** Returns 'unknown' for versions that no longer exist, undefined if the object cannot be converted. */
export type DifferenceAt = (apiVersion: string) => Difference | 'unknown' | undefined

/** Memoizes the difference per API version. */
export function differences(write: Write): DifferenceAt {
  let writtenVersion: { readonly difference: ReturnType<DifferenceAt> } | undefined
  let otherVersions: Map<string, ReturnType<DifferenceAt>> | undefined
  return (apiVersion) => {
    if (apiVersion === write.kind.apiVersion) {
      writtenVersion ??= { difference: differenceAt(write, apiVersion) }
      return writtenVersion.difference
    }
    otherVersions ??= new Map()
    if (!otherVersions.has(apiVersion)) otherVersions.set(apiVersion, differenceAt(write, apiVersion))
    return otherVersions.get(apiVersion)
  }
}

function differenceAt({ kind, live, next, ignored, isApplied }: Write, apiVersion: string): Difference | 'unknown' | undefined {
  const topology = topologyAt(kind, apiVersion)
  if (topology === undefined || topology === 'unknown') return topology
  const before = live && objectAt(kind, live, apiVersion)
  const after = objectAt(kind, next, apiVersion)
  if (after === undefined || (before === undefined && live !== undefined)) return undefined
  const isWrittenVersion = apiVersion === kind.apiVersion
  const found =
    isApplied && before !== undefined
      ? (isWrittenVersion ? compareApplied : compareConverted)(topology, before, after)
      : compare(topology, before, after)
  return ignored === undefined
    ? found
    : { changed: differenceBelow(found.changed, ignored), removed: differenceBelow(found.removed, ignored) }
}

const without = (set: FieldSet | undefined, { changed, removed }: Difference): FieldSet | undefined =>
  difference(difference(set, changed), removed)

/** Adapts field sets to changes of the schema. */
export const reconcileOwners = (kind: KindVersions, owners: readonly FieldOwner[]): readonly FieldOwner[] =>
  mapOwners(owners, (owner) => {
    const topology = owner.set && topologyAt(kind, owner.apiVersion)
    if (owner.set === undefined || topology === undefined || topology === 'unknown') return owner
    return withSet(owner, reconcileFieldSet(owner.set, topology))
  })

function mapOwners(owners: readonly FieldOwner[], change: (owner: FieldOwner) => FieldOwner): readonly FieldOwner[] {
  let out: FieldOwner[] | undefined
  for (let i = 0; i < owners.length; i++) {
    const owner = owners[i] as FieldOwner
    const next = change(owner)
    if (next === owner) continue
    out ??= [...owners]
    out[i] = next
  }
  return out ?? owners
}

/** Removes changed fields from other owners, and drops owners of versions that no longer exist. */
export function keepOwners(owners: readonly FieldOwner[], differenceAt: DifferenceAt): readonly FieldOwner[] {
  const kept: FieldOwner[] = []
  for (const owner of owners) {
    const change = differenceAt(owner.apiVersion)
    if (change !== 'unknown') kept.push(change === undefined ? owner : withSet(owner, without(owner.set, change)))
  }
  return kept
}
