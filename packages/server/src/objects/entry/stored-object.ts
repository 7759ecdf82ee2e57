// A stored object: a binary header, and a body of JSON without kind, apiVersion and resourceVersion. GET, LIST and WATCH copy the body
// and insert `"resourceVersion":"…",` at the splice, an offset in the header, without parsing.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import type { KnownVersion, Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { BatchConversion } from '@cluster-apiserver/api/api/definition/conversion-webhook.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import type { ItemEncoding, ItemSource } from '@cluster-apiserver/api/codec/item-encoding.js'
import { parseJson } from '@cluster-apiserver/api/codec/json/json.js'
import { withoutNullFields } from '@cluster-apiserver/api/schema/json/null-fields.js'
import { readValue } from '@cluster-apiserver/api/schema/json/read.js'
import { countBigNumbers, writeAny, writeStoredFields } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { Entry, ScannedEntry } from '../../storage/storage.js'
import { ownerUids } from '../owner-index.js'
import { committing, type EncodedObject, isDecodedAlike } from './encoded-object.js'
import {
  apiVersionOf,
  bodyStartOf,
  bytesOf,
  createHead,
  type EntryBytes,
  type EntryHead,
  formatOf,
  isWrittenAs,
  joinEntry,
  parseIndex,
  type SelectorIndex,
  spliceAndFlagsOf,
  spliceMask,
} from './entry-header.js'

/** Flags in the upper bits of the splice: the JSON has numbers too long for JSON.parse, or null fields. */
const longNumberFlag = 0x8000_0000
const nullFlag = 0x4000_0000

export type StoredKind = Pick<
  Resource,
  'kind' | 'storedSchema' | 'storedApiVersion' | 'versions' | 'conversion' | 'indexedFields' | 'indexVersion'
>

export const openBrace = Uint8Array.of(0x7b)
const closeBrace = Uint8Array.of(0x7d)

/** Cache of items (objects encoded for lists) by object and representation. */
export interface ItemStore {
  item(object: StoredObject, encoding: ItemEncoding): Uint8Array
  find(object: StoredObject, encoding: ItemEncoding): Uint8Array | undefined
  add(object: StoredObject, encoding: ItemEncoding, item: Uint8Array): void
}

export class StoredObject implements ItemSource {
  readonly entry: Entry
  private readonly value: Buffer
  private readonly itemCache: ItemStore | undefined
  private decoded: ApiObject | undefined
  private decodedKind: StoredKind | undefined
  private encodedItems: Map<ItemEncoding, Uint8Array> | undefined
  private source: EncodedObject | undefined
  private parsedIndex: SelectorIndex | undefined
  private parsedIndexVersion: number | undefined
  /** Results of the conversion webhook, by conversion and version: a changed CRD has another conversion. */
  private converted: WeakMap<BatchConversion, Map<string, ApiObject>> | undefined
  /** Number of cached conversions. */
  conversions = 0
  /** Notified when this object gets larger. */
  owningCache: { grow(object: StoredObject): void } | undefined

  constructor(entry: Entry, itemCache?: ItemStore) {
    this.entry = entry
    this.value = entry.value
    this.itemCache = itemCache
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

  /** Returns the object in the storage version, without `kind` and `apiVersion`. */
  decode(resource: StoredKind): ApiObject {
    if (this.decoded !== undefined && this.isDecodedAs(resource)) return this.decoded
    this.decoded = this.decodeSource(resource) ?? this.parse(resource)
    // Not before: after a failed conversion the object of the former kind would count as one of this kind.
    this.decodedKind = resource
    return this.decoded
  }

  /** The object that was encoded into the entry; `decode` uses it instead of parsing. */
  setSource(source: EncodedObject | undefined): this {
    if (this.decoded === undefined) this.source = source
    return this
  }

  private decodeSource(resource: StoredKind): ApiObject | undefined {
    const source = this.source ?? committing.get(this.value)
    this.source = undefined
    const flags = this.spliceAndFlags
    if (source === undefined || (flags & longNumberFlag) !== 0) return undefined
    return source.decode(resource, { resourceVersion: this.resourceVersion, hasNulls: (flags & nullFlag) !== 0 })
  }

  private isDecodedAs(resource: StoredKind): boolean {
    return this.decodedKind !== undefined && isDecodedAlike(this.decodedKind, resource)
  }

  labels(): SelectorIndex['labels'] {
    return this.readIndex().labels
  }

  isIndexedAs({ indexVersion }: StoredKind): boolean {
    this.readIndex()
    return this.parsedIndexVersion === indexVersion
  }

  /** Returns labels and the current selectable fields, which are computed if the entry was indexed with other fields. */
  index(resource: StoredKind): SelectorIndex {
    const index = this.readIndex()
    if (this.parsedIndexVersion === resource.indexVersion) return index
    this.parsedIndex = { labels: index.labels, fields: fieldsOf(resource, this.decode(resource)) }
    this.parsedIndexVersion = resource.indexVersion
    return this.parsedIndex
  }

  fields(resource: StoredKind): SelectorIndex['fields'] {
    return this.index(resource).fields
  }

  render(head: Uint8Array, end: Uint8Array, resource: StoredKind): Buffer {
    const scanned = scannedOf(this.entryAs(resource))
    const out = Buffer.allocUnsafe(head.length + bodySize(scanned) + end.length)
    out.set(head)
    out.set(end, spliceInto(out, head.length, scanned))
    return out
  }

  cachedItem(encoding: ItemEncoding): Uint8Array | undefined {
    return this.encodedItems?.get(encoding) ?? this.itemCache?.find(this, encoding)
  }

  cacheItem(encoding: ItemEncoding, item: Uint8Array): void {
    this.encodedItems ??= new Map()
    this.encodedItems.set(encoding, item)
    this.itemCache?.add(this, encoding, item)
  }

  item(encoding: ItemEncoding): Uint8Array {
    const item = this.encodedItems?.get(encoding)
    if (item !== undefined) return item
    return (encoding.isStored ? undefined : this.itemCache?.item(this, encoding)) ?? this.encodeItem(encoding)
  }

  encodeItem(encoding: ItemEncoding): Uint8Array {
    if (encoding.isStored) return this.render(encoding.storedHead ?? openBrace, closeBrace, encoding.resource)
    const { resource } = encoding
    if (resource.conversion !== undefined || resource.fromStored !== undefined) return encoding.item(this.shown(resource))
    const withoutNulls =
      encoding.ignoresZeros && this.decodedKind?.storedSchema !== resource.storedSchema ? this.parseWithoutNulls(resource) : undefined
    return encoding.item(withoutNulls ?? this.decode(resource))
  }

  /** The object in the version of `resource`. If a webhook converts it, call convertAhead first. */
  shown(resource: Resource): ApiObject {
    const { conversion, fromStored } = resource
    const object = conversion === undefined ? this.decode(resource) : this.inVersion(resource, conversion.version)
    return fromStored?.(object) ?? object
  }

  /** The entry in the storage version, encoded again if it was written in another version. */
  private entryAs(resource: StoredKind): Entry {
    if (isCurrent(bytesOf(this.entry), resource)) return this.entry
    return { key: this.key, revision: this.revision, value: encodeStored(resource, this.decode(resource)) }
  }

  private get spliceAndFlags(): number {
    return spliceAndFlagsOf(bytesOf(this.entry))
  }

  private get text(): string {
    return `{${this.value.toString('utf8', bodyStartOf(bytesOf(this.entry)))}}`
  }

  /** Returns the object in a version that needs no webhook call, for its metadata, which are the same in all versions. */
  inAnyVersion(resource: StoredKind): ApiObject {
    if (resource.conversion === undefined || this.isAvailableIn(resource, resource.storedApiVersion)) return this.decode(resource)
    return this.decodeAsWritten(resource)
  }

  writtenVersion(resource: StoredKind): string {
    return apiVersionOf(bytesOf(this.entry)) ?? resource.storedApiVersion
  }

  decodeAsWritten(resource: StoredKind): ApiObject {
    return this.parseAs(this.versionOf(resource).schema)
  }

  /** True if no webhook call is needed for the version. */
  isAvailableIn(resource: StoredKind, version: string): boolean {
    return this.writtenVersion(resource) === version || this.convertedTo(resource, version) !== undefined
  }

  cacheConversion(conversion: BatchConversion, version: string, object: ApiObject): void {
    this.converted ??= new WeakMap()
    const byVersion = this.converted.get(conversion) ?? new Map<string, ApiObject>()
    this.converted.set(conversion, byVersion)
    const isNew = !byVersion.has(version)
    byVersion.set(version, { ...object, metadata: { ...object.metadata, resourceVersion: this.resourceVersion } })
    if (!isNew) return
    this.conversions += 1
    this.owningCache?.grow(this)
  }

  private convertedTo({ conversion }: StoredKind, version: string): ApiObject | undefined {
    return conversion === undefined ? undefined : this.converted?.get(conversion.convert)?.get(version)
  }

  private inVersion(resource: StoredKind, version: string): ApiObject {
    const found = this.writtenVersion(resource) === version ? this.decodeAsWritten(resource) : this.convertedTo(resource, version)
    if (found === undefined) throw new Error(`${this.key} was not converted to ${version} before it was read`)
    return found
  }

  private versionOf(resource: StoredKind): KnownVersion {
    const apiVersion = this.writtenVersion(resource)
    const version = resource.versions.get(apiVersion)
    if (version === undefined)
      throw new ApiError({ code: 500, message: `request to convert CR from an invalid group/version: ${apiVersion}` })
    return version
  }

  private parse(resource: StoredKind): ApiObject {
    if (isCurrent(bytesOf(this.entry), resource)) return this.parseAs(resource.storedSchema)
    if (resource.conversion !== undefined) return this.inVersion(resource, resource.storedApiVersion)
    const version = this.versionOf(resource)
    const object = this.parseAs(version.schema)
    return version.toStored?.(object) ?? object
  }

  /** The JSON has null for unset times; in memory such a field is absent. */
  private parseAs(schema: StructNode): ApiObject {
    const { spliceAndFlags: flags, text } = this
    const parsed: unknown = (flags & longNumberFlag) === 0 ? JSON.parse(text) : parseJson(Buffer.from(text)).value
    return this.withVersion((flags & nullFlag) === 0 ? parsed : readValue(schema, parsed).value)
  }

  /** Faster than parseAs for entries with null fields, but keeps zero values. Undefined: not faster for this entry. */
  private parseWithoutNulls(resource: StoredKind): ApiObject | undefined {
    if (this.spliceAndFlags >>> 30 !== nullFlag >>> 30 || !isCurrent(bytesOf(this.entry), resource)) return undefined
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
    this.parsedIndexVersion = version
    return index
  }
}

/** True if the entry has the storage version. Also for format 0, whose kinds have kept their storage version. */
export const isCurrent = (entry: EntryBytes, resource: StoredKind): boolean => isWrittenAs(entry, headOf(resource)) || formatOf(entry) === 0

const heads = new WeakMap<StoredKind, EntryHead>()

function headOf(resource: StoredKind): EntryHead {
  const cached = heads.get(resource)
  if (cached !== undefined) return cached
  const head = createHead(resource.storedApiVersion, resource.indexVersion)
  heads.set(resource, head)
  return head
}

const resourceVersionField = (revision: number): string => `"resourceVersion":"${revision}",`

function spliceInto(out: Buffer, offset: number, scanned: Omit<ScannedEntry, 'key'>): number {
  const { revision, bytes, end } = scanned
  const bodyStart = bodyStartOf(scanned)
  const splice = spliceAndFlagsOf(scanned) & spliceMask
  const versionField = resourceVersionField(revision)
  const gapEnd = offset + versionField.length
  // Copy the body behind the gap for the version, then move its head before the gap.
  out.set(new Uint8Array(bytes.buffer, bytes.byteOffset + bodyStart, end - bodyStart), gapEnd)
  out.copyWithin(offset, gapEnd, gapEnd + splice)
  out.write(versionField, offset + splice, 'latin1')
  return gapEnd + end - bodyStart
}

/** Writes the rest of a list item, whose opening brace is written; returns the offset after it. */
export function renderItemInto(out: Buffer, offset: number, scanned: Omit<ScannedEntry, 'key'>): number {
  const end = spliceInto(out, offset, scanned)
  out.set(closeBrace, end)
  return end + 1
}

/** Upper bound for braces and resourceVersion around an entry. */
export const maxItemOverheadBytes = 64

const bodySize = (scanned: Omit<ScannedEntry, 'key'>): number =>
  scanned.end - bodyStartOf(scanned) + resourceVersionField(scanned.revision).length

const scannedOf = ({ revision, value }: Entry): Omit<ScannedEntry, 'key'> => ({ revision, bytes: value, start: 0, end: value.length })

const decodedOnce = new WeakMap<Buffer, { readonly schema: StructNode; readonly object: ApiObject }>()

/** Decodes each value once for all servers that share it, which are forks. The resourceVersion may be that of an older write. */
export function decodeOnce(stored: StoredObject, resource: StoredKind): ApiObject {
  const { value } = stored.entry
  const known = decodedOnce.get(value)
  if (known !== undefined && known.schema === resource.storedSchema) return known.object
  const object = stored.decode(resource)
  decodedOnce.set(value, { schema: resource.storedSchema, object })
  return object
}

/** Encodes an object without its resourceVersion, which is the revision of the write. */
export function encodeStored(resource: StoredKind, object: ApiObject): Buffer {
  const bigNumbers = countBigNumbers()
  const text = writeStoredFields(resource.storedSchema, object)
  const flags = (countBigNumbers() === bigNumbers ? 0 : longNumberFlag) | (text.includes(':null') ? nullFlag : 0)
  const uid = `"uid":"${object.metadata?.uid}",`
  const found = text.indexOf(uid)
  if (found < 0) throw new Error(`${resource.kind} ${object.metadata?.name}: an object without uid cannot be stored`)
  const before = text.slice(0, found + uid.length)
  const behind = text.slice(endOfResourceVersion(text, before.length))
  return joinEntry(headOf(resource), { owners: ownerUids(object), index: encodeIndex(resource, object), before, behind, flags })
}

const resourceVersionStart = '"resourceVersion":"'

function endOfResourceVersion(text: string, start: number): number {
  return text.startsWith(resourceVersionStart, start) ? text.indexOf('",', start + resourceVersionStart.length) + 2 : start
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

/** Sorted, so that equal objects have equal bytes. */
function sorted(labels: SelectorIndex['labels']): SelectorIndex['labels'] {
  const keys = Object.keys(labels ?? {})
  return keys.length < 2 ? labels : Object.fromEntries(sortTexts(keys).map((key) => [key, labels?.[key] ?? '']))
}
