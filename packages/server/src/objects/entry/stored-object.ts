// An object as it lies in the store: wire JSON without its type and version, behind a small header that says what it is.
//
// `body` is what stands between the braces of the wire form after `kind` and `apiVersion`; `splice` is the place in it where
// `"resourceVersion":"…",` belongs. So GET, LIST and WATCH are answered by copying three slices, without parsing. See entry-header.

import { ApiError } from '../api/api-error.js'
import type { KnownVersion, Resource } from '../api/catalog.js'
import type { BatchConversion } from '../api/conversion.js'
import type { ApiObject } from '../api/object.js'
import { allocateRoomy } from '../base/front-room.js'
import { sortTexts } from '../base/text-order.js'
import type { ItemForm, ItemSource } from '../codec/item-form.js'
import { parseJson } from '../codec/json.js'
import type { StructNode } from '../schema/node.js'
import { withoutNullFields } from '../schema/null-fields.js'
import { readValue } from '../schema/read.js'
import { readBackFields } from '../schema/read-back.js'
import { countBigNumbers, writeAny, writeStoredFields } from '../schema/write.js'
import type { Entry, ScannedEntry } from '../storage/storage.js'
import {
  apiVersionOf,
  bodyStartOf,
  bytesOf,
  type EntryBytes,
  type EntryHead,
  formatOf,
  isWrittenAs,
  joinEntry,
  makeHead,
  spliceOf,
} from './entry-header.js'
import type { ItemCache } from './item-cache.js'
import { ownerUids } from './owner-fields.js'
import { fieldsAlone, parseIndex, type SelectorIndex } from './selector-index.js'

/** In the upper bits of the splice: what a plain parse of the body would get wrong. */
const longNumberFlag = 0x8000_0000
export const nullFlag = 0x4000_0000
const spliceMask = 0x3fff_ffff

/** What is to be known of a kind to read and write its entries. */
export type StoredKind = Pick<
  Resource,
  'kind' | 'storedSchema' | 'storedApiVersion' | 'versions' | 'conversion' | 'indexedFields' | 'indexVersion'
>

export const openBrace = Uint8Array.of(0x7b)
const closeBrace = Uint8Array.of(0x7d)

export class StoredObject implements ItemSource {
  readonly entry: Entry
  private readonly value: Buffer
  private readonly kept: ItemCache | undefined
  private decoded: ApiObject | undefined
  /** The version that it was decoded for. */
  private decodedAs: StructNode | undefined
  private decodedVersion: string | undefined
  private decodedBy: BatchConversion | undefined
  /** Items that a worker thread made. */
  private made: Map<ItemForm, Uint8Array> | undefined
  /** What it was encoded from, until somebody wants it decoded. */
  private encodedFrom: ApiObject | undefined
  private parsedIndex: SelectorIndex | undefined
  /** The version of its fields. */
  private indexedAs: number | undefined
  /** By who converted it and by version: what was made of it before its kind was changed is not what it is now. */
  private converted: WeakMap<BatchConversion, Map<string, ApiObject>> | undefined
  /** How many of them it holds, at most. */
  conversions = 0
  /** Told when it holds one more. */
  heldBy: { grow(object: StoredObject): void } | undefined

  /** `kept`: where its other forms stay for the next reader, if they shall. */
  constructor(entry: Entry, kept?: ItemCache) {
    this.entry = entry
    this.value = entry.value
    this.kept = kept
  }

  get key(): string {
    return this.entry.key
  }

  get revision(): number {
    return this.entry.revision
  }

  get resourceVersion(): string {
    return String(this.revision)
  }

  get size(): number {
    return this.value.length
  }

  /** The object with its metadata complete; `kind` and `apiVersion` are the caller's to add. */
  decode(resource: StoredKind): ApiObject {
    if (this.isDecodedAs(resource)) {
      if (this.decoded !== undefined) return this.decoded
      if (this.encodedFrom !== undefined) return this.readBack(resource, this.encodedFrom)
    }
    this.noteVersion(resource)
    this.decoded = this.parse(resource)
    return this.decoded
  }

  /** It was encoded from this object a moment ago: whoever wants it decoded need not parse it. */
  keepSource(resource: StoredKind, object: ApiObject): void {
    if (this.decoded !== undefined || (this.flags & ~spliceMask) !== 0) return
    this.noteVersion(resource)
    this.encodedFrom = object
  }

  private readBack({ storedSchema }: StoredKind, object: ApiObject): ApiObject {
    this.encodedFrom = undefined
    this.decoded = this.withVersion(readBackFields(storedSchema, object))
    return this.decoded
  }

  private noteVersion({ storedSchema, storedApiVersion, conversion }: StoredKind): void {
    this.decodedAs = storedSchema
    this.decodedVersion = storedApiVersion
    this.decodedBy = conversion?.convert
  }

  private isDecodedAs({ storedSchema, storedApiVersion, conversion }: StoredKind): boolean {
    return this.decodedAs === storedSchema && this.decodedVersion === storedApiVersion && this.decodedBy === conversion?.convert
  }

  labels(): SelectorIndex['labels'] {
    return this.readIndex().labels
  }

  /** Whether nothing has to be worked out for `index`. */
  isIndexedAs({ indexVersion }: StoredKind): boolean {
    this.readIndex()
    return this.indexedAs === indexVersion
  }

  /** With the fields that the kind has now: of an entry that was indexed by others they are worked out. */
  index(resource: StoredKind): SelectorIndex {
    const index = this.readIndex()
    if (this.indexedAs === resource.indexVersion) return index
    this.parsedIndex = { labels: index.labels, fields: fieldsOf(resource, this.decode(resource)) }
    this.indexedAs = resource.indexVersion
    return this.parsedIndex
  }

  /** The fields of `index` alone: of an entry with very many labels these are not read for them. */
  fields(resource: StoredKind): SelectorIndex['fields'] {
    const alone = this.parsedIndex === undefined ? fieldsAlone(this.entry, resource.indexVersion) : undefined
    return alone ?? this.index(resource).fields
  }

  render(head: Uint8Array, end: Uint8Array, resource: StoredKind): Buffer {
    const scanned = scannedOf(this.entryAs(resource))
    const out = allocateRoomy(head.length + bodySize(scanned) + end.length)
    out.set(head)
    out.set(end, spliceInto(out, head.length, scanned))
    return out
  }

  /** Its item, if it was kept. */
  keptItem(form: ItemForm): Uint8Array | undefined {
    return this.made?.get(form) ?? this.kept?.find(this, form)
  }

  /** Keeps an item that a worker thread made. */
  keepItem(form: ItemForm, item: Uint8Array): void {
    this.made ??= new Map()
    this.made.set(form, item)
    this.kept?.add(this, form, item)
  }

  item(form: ItemForm): Uint8Array {
    const made = this.made?.get(form)
    if (made !== undefined) return made
    return (form.isStored ? undefined : this.kept?.item(this, form)) ?? this.makeItem(form)
  }

  makeItem(form: ItemForm): Uint8Array {
    if (form.isStored) return this.render(form.storedHead ?? openBrace, closeBrace, form.resource)
    const { resource } = form
    if (resource.conversion !== undefined || resource.fromStored !== undefined) return form.item(this.shown(resource))
    const quickly = form.ignoresZeros && this.decodedAs !== resource.storedSchema ? this.parseQuickly(resource) : undefined
    return form.item(quickly ?? this.decode(resource))
  }

  /** As clients of a version see it; where somebody else converts, it was converted before (see convert-ahead). */
  shown(resource: Resource): ApiObject {
    const { conversion, fromStored } = resource
    const own = conversion === undefined ? this.decode(resource) : this.as(resource, conversion.version)
    return fromStored?.(own) ?? own
  }

  /** Bytes that can be copied: an entry that was written in another version is written anew, for the moment. */
  private entryAs(resource: StoredKind): Entry {
    if (isCurrent(bytesOf(this.entry), resource)) return this.entry
    return { key: this.key, revision: this.revision, value: encodeStored(resource, this.decode(resource)) }
  }

  private get flags(): number {
    return spliceOf(bytesOf(this.entry))
  }

  private get text(): string {
    return `{${this.value.toString('utf8', bodyStartOf(bytesOf(this.entry)))}}`
  }

  /** In whichever version needs no conversion by somebody else: metadata are the same in all of them. */
  inAnyVersion(resource: StoredKind): ApiObject {
    if (resource.conversion === undefined || this.isReadyAs(resource, resource.storedApiVersion)) return this.decode(resource)
    return this.asWritten(resource)
  }

  /** The version in which it was written. */
  writtenAs(resource: StoredKind): string {
    return apiVersionOf(bytesOf(this.entry)) ?? resource.storedApiVersion
  }

  asWritten(resource: StoredKind): ApiObject {
    return this.parseAs(this.versionOf(resource).schema)
  }

  /** Whether it can be shown in a version without being converted by somebody else. */
  isReadyAs(resource: StoredKind, version: string): boolean {
    return this.writtenAs(resource) === version || this.convertedTo(resource, version) !== undefined
  }

  /** Keeps what it was converted to: see convert-ahead. */
  keepAs(by: BatchConversion, version: string, object: ApiObject): void {
    this.converted ??= new WeakMap()
    const known = this.converted.get(by) ?? new Map<string, ApiObject>()
    this.converted.set(by, known)
    const isNew = !known.has(version)
    known.set(version, { ...object, metadata: { ...object.metadata, resourceVersion: this.resourceVersion } })
    if (!isNew) return
    this.conversions += 1
    this.heldBy?.grow(this)
  }

  private convertedTo({ conversion }: StoredKind, version: string): ApiObject | undefined {
    return conversion === undefined ? undefined : this.converted?.get(conversion.convert)?.get(version)
  }

  private as(resource: StoredKind, version: string): ApiObject {
    const found = this.writtenAs(resource) === version ? this.asWritten(resource) : this.convertedTo(resource, version)
    if (found === undefined) throw new Error(`${this.key} was not converted to ${version} before it was asked for`)
    return found
  }

  private versionOf(resource: StoredKind): KnownVersion {
    const apiVersion = this.writtenAs(resource)
    const version = resource.versions.get(apiVersion)
    if (version === undefined)
      throw new ApiError({ code: 500, message: `request to convert CR from an invalid group/version: ${apiVersion}` })
    return version
  }

  /** In the stored version, from whichever it was written in. */
  private parse(resource: StoredKind): ApiObject {
    if (isCurrent(bytesOf(this.entry), resource)) return this.parseAs(resource.storedSchema)
    if (resource.conversion !== undefined) return this.as(resource, resource.storedApiVersion)
    const version = this.versionOf(resource)
    const object = this.parseAs(version.schema)
    return version.toStored?.(object) ?? object
  }

  /** The wire form writes null for a time that was never set; in memory such a field is absent. */
  private parseAs(schema: StructNode): ApiObject {
    const { flags, text } = this
    const parsed: unknown = (flags & longNumberFlag) === 0 ? JSON.parse(text) : parseJson(Buffer.from(text)).value
    return this.withVersion((flags & nullFlag) === 0 ? parsed : readValue(schema, parsed).value)
  }

  /** The same but for zero values, which a reading leaves out where fields are null; undefined where this is no quicker. */
  private parseQuickly(resource: StoredKind): ApiObject | undefined {
    if (this.flags >>> 30 !== nullFlag >>> 30 || !isCurrent(bytesOf(this.entry), resource)) return undefined
    const text = withoutNullFields(resource.storedSchema, this.text)
    return text === undefined ? undefined : this.withVersion(JSON.parse(text))
  }

  private withVersion(parsed: unknown): ApiObject {
    const object = parsed as { metadata: { resourceVersion?: string } }
    object.metadata.resourceVersion = this.resourceVersion
    return object
  }

  private readIndex(): SelectorIndex {
    if (this.parsedIndex !== undefined) return this.parsedIndex
    const { index, version } = parseIndex(this.entry)
    this.parsedIndex = index
    this.indexedAs = version
    return index
  }
}

/** Whether an entry is written in the version that is stored now. One that is too old to say is: its kinds have not changed since. */
export const isCurrent = (entry: EntryBytes, resource: StoredKind): boolean => isWrittenAs(entry, headOf(resource)) || formatOf(entry) === 0

const heads = new WeakMap<StoredKind, EntryHead>()

function headOf(resource: StoredKind): EntryHead {
  const known = heads.get(resource)
  if (known !== undefined) return known
  const head = makeHead(resource.storedApiVersion, resource.indexVersion)
  heads.set(resource, head)
  return head
}

const versionText = (revision: number): string => `"resourceVersion":"${revision}",`

/** Writes what stands between the braces of the wire form at a place; answers with the place behind it. */
function spliceInto(out: Buffer, at: number, scanned: Omit<ScannedEntry, 'key'>): number {
  const { revision, bytes, end } = scanned
  const bodyStart = bodyStartOf(scanned)
  const head = spliceOf(scanned) & spliceMask
  const version = versionText(revision)
  const gapEnd = at + version.length
  // The whole body goes behind the gap for the version; then its head moves to the front of that.
  out.set(new Uint8Array(bytes.buffer, bytes.byteOffset + bodyStart, end - bodyStart), gapEnd)
  out.copyWithin(at, gapEnd, gapEnd + head)
  out.write(version, at + head, 'latin1')
  return gapEnd + end - bodyStart
}

/** The rest of an entry as an item of a list in stored JSON, behind its head, where there is room; answers with the place behind it. */
export function renderItemInto(out: Buffer, place: number, scanned: Omit<ScannedEntry, 'key'>): number {
  const end = spliceInto(out, place, scanned)
  out.set(closeBrace, end)
  return end + 1
}

/** At most so much more than the entry itself an item is: braces and version. */
export const mostAdded = 64

const bodySize = (scanned: Omit<ScannedEntry, 'key'>): number => scanned.end - bodyStartOf(scanned) + versionText(scanned.revision).length

const scannedOf = ({ revision, value }: Entry): Omit<ScannedEntry, 'key'> => ({ revision, bytes: value, start: 0, end: value.length })

/** The bytes of an object for the store. The version is left out: it is the revision of the write itself. */
export function encodeStored(resource: StoredKind, object: ApiObject): Buffer {
  const bigNumbers = countBigNumbers()
  const text = writeStoredFields(resource.storedSchema, object)
  const flags = (countBigNumbers() === bigNumbers ? 0 : longNumberFlag) | (text.includes(':null') ? nullFlag : 0)
  const uid = `"uid":"${object.metadata?.uid}",`
  const found = text.indexOf(uid)
  if (found < 0) throw new Error(`${resource.kind} ${object.metadata?.name}: an object without uid cannot be stored`)
  const before = text.slice(0, found + uid.length)
  const behind = text.slice(endOfVersion(text, before.length))
  return joinEntry(headOf(resource), { owners: ownerUids(object), index: encodeIndex(resource, object), before, behind, flags })
}

const versionStart = '"resourceVersion":"'

/** Where a version that stands at a place ends, with the comma behind it. */
function endOfVersion(text: string, place: number): number {
  return text.startsWith(versionStart, place) ? text.indexOf('",', place + versionStart.length) + 2 : place
}

function encodeIndex(resource: StoredKind, object: ApiObject): string {
  const labels = object.metadata?.labels
  if (labels === undefined && resource.indexedFields === undefined) return ''
  return writeAny({ l: sorted(labels), f: fieldsOf(resource, object) })
}

function fieldsOf({ indexedFields }: StoredKind, object: ApiObject): SelectorIndex['fields'] {
  if (indexedFields === undefined) return undefined
  const fields: Record<string, string> = {}
  for (const [path, get] of Object.entries(indexedFields)) fields[path] = get(object)
  return fields
}

/** In one order, so that equal objects have equal bytes. */
function sorted(labels: SelectorIndex['labels']): SelectorIndex['labels'] {
  const keys = Object.keys(labels ?? {})
  return keys.length < 2 ? labels : Object.fromEntries(sortTexts(keys).map((key) => [key, labels?.[key] ?? '']))
}
