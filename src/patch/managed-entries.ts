// The entries of `metadata.managedFields` as owners of field sets, and back. An owner that did not change keeps its entry as it was.

import { getOrInsert } from '../base/get-or-insert.js'
import { compareText } from '../base/text-order.js'
import { type FieldSet, nonEmpty, unionAll } from './field-set.js'
import { readFieldsV1 } from './fields-v1.js'

import { isEqual, isRecord } from './plain.js'

export interface ManagedFieldsEntry {
  readonly manager?: string
  readonly operation?: string
  readonly apiVersion?: string
  readonly time?: string
  readonly fieldsType?: string
  readonly fieldsV1?: unknown
  readonly subresource?: string
}

/** Who owns fields. Two writes have one owner if all of this is the same; an applier is the same in every version. */
export interface OwnerName {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly subresource: string
}

export interface Owner extends OwnerName {
  readonly time: string | undefined
  readonly set: FieldSet | undefined
  /** The entry that says just this, if there is one. */
  readonly entry: ManagedFieldsEntry | undefined
}

export const isSameOwner = (a: OwnerName, b: OwnerName): boolean =>
  a.manager === b.manager &&
  a.operation === b.operation &&
  a.subresource === b.subresource &&
  (a.operation === 'Apply' || a.apiVersion === b.apiVersion)

/** An owner of a set. Written out, for this is made several times in every write, and a spread costs ten times as much. */
export const ownerOf = (name: OwnerName, set: FieldSet | undefined, time: string | undefined): Owner => ({
  manager: name.manager,
  operation: name.operation,
  apiVersion: name.apiVersion,
  subresource: name.subresource,
  time,
  set,
  entry: undefined,
})

/** The owner with another set. */
export const withSet = (owner: Owner, set: FieldSet | undefined): Owner => (set === owner.set ? owner : ownerOf(owner, set, owner.time))

/** The order of owners in conflicts, and among updates of the same second. */
export const compareOwners = (a: OwnerName, b: OwnerName): number => compareText(ownerText(a), ownerText(b))

const ownerText = ({ manager, operation, apiVersion, subresource }: OwnerName): string =>
  JSON.stringify({
    ...(manager === '' ? {} : { manager }),
    operation,
    ...(operation === 'Apply' ? {} : { apiVersion }),
    ...(subresource === '' ? {} : { subresource }),
  })

/** Owners from entries that this server wrote; none if they are not valid. */
export const readStoredEntries = (entries: readonly ManagedFieldsEntry[] | undefined): readonly Owner[] =>
  readEntries(entries ?? [], (fieldsV1) => ({ set: isRecord(fieldsV1) ? nonEmpty(fieldsV1 as FieldSet) : undefined })) ?? []

/** Owners from entries that a client sent; undefined if any of them is not valid. */
export const readSentEntries = (entries: readonly ManagedFieldsEntry[]): readonly Owner[] | undefined => readEntries(entries, readFieldsV1)

type ReadSet = (fieldsV1: unknown) => { readonly set: FieldSet | undefined } | undefined

function readEntries(entries: readonly ManagedFieldsEntry[], readSet: ReadSet): readonly Owner[] | undefined {
  const owners: Owner[] = []
  const places = entries.length > fewEntries ? new Map<string, number>() : undefined
  const reading: Reading = { owners, places, more: undefined }
  for (const entry of entries) {
    const { operation, apiVersion = '' } = entry
    if ((operation !== 'Apply' && operation !== 'Update') || apiVersion === '' || entry.fieldsType !== 'FieldsV1') return undefined
    const read = readSet(entry.fieldsV1)
    if (read === undefined) return undefined
    addOwner(reading, {
      manager: entry.manager ?? '',
      operation,
      apiVersion,
      subresource: entry.subresource ?? '',
      time: entry.time,
      set: read.set,
      // An entry of ours is as it shall be; one that was sent may have its fields in another form.
      entry: read.set === entry.fieldsV1 ? entry : undefined,
    })
  }
  if (reading.more !== undefined) mergeSets(owners, reading.more)
  return owners
}

/** A look at each is quicker than a map for as many as there usually are. */
const fewEntries = 16

interface Reading {
  readonly owners: Owner[]
  readonly places: Map<string, number> | undefined
  /** The sets of all entries of an owner that has several, by its place. */
  more: Map<number, (FieldSet | undefined)[]> | undefined
}

function mergeSets(owners: Owner[], more: NonNullable<Reading['more']>): void {
  for (const [index, sets] of more) {
    const owner = owners[index] as Owner
    owners[index] = ownerOf(owner, unionAll(sets), owner.time)
  }
}

/** Entries of one owner are merged in the end; the last one says when. */
function addOwner(reading: Reading, owner: Owner): void {
  const { owners, places } = reading
  const name = places === undefined ? '' : ownerText(owner)
  const index = places === undefined ? owners.findIndex((other) => isSameOwner(other, owner)) : (places.get(name) ?? -1)
  if (index < 0) {
    places?.set(name, owners.length)
    owners.push(owner)
    return
  }
  reading.more ??= new Map()
  getOrInsert(reading.more, index, () => [(owners[index] as Owner).set]).push(owner.set)
  owners[index] = owner
}

/** The owners but for one of them. */
export function ownersBut(owners: readonly Owner[], one: Owner | undefined): readonly Owner[] {
  if (one === undefined) return owners
  const others: Owner[] = []
  for (const owner of owners) if (owner !== one) others.push(owner)
  return others
}

/**
 * The entries of all owners that own something: applies first, then by time and name; undefined if there are none. Where they are those
 * that were there before, it is the same list.
 */
export function writeEntries(
  owners: readonly Owner[],
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

function entryOf({ manager, operation, apiVersion, time, set, subresource }: Owner): ManagedFieldsEntry {
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

/** Whole seconds since 1970; an entry without a time is as old as can be. */
export const secondsOf = (time: string | undefined): number => (time === undefined ? 0 : Math.floor(Date.parse(time) / 1000) || 0)

/** A list of one empty entry asks for all ownership to be forgotten. */
export const isReset = (entries: readonly ManagedFieldsEntry[] | undefined): boolean =>
  entries?.length === 1 && Object.values(entries[0] as object).every((value) => value === undefined || value === '')

/** Whether entries differ at most in their times: a write that changes nothing else shall change nothing. */
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
