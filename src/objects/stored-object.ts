// An object as it lies in the store: wire JSON without its type and version, behind a small header for selectors.
//
//   value = [index length: u32][splice: u32, with flags][index: JSON][body: JSON members]
//
// `body` is what stands between the braces of the wire form after `kind` and `apiVersion`; `splice` is the place in it where
// `"resourceVersion":"…",` belongs. So GET, LIST and WATCH are answered by copying three slices, without parsing.

import type { Resource } from '../api/catalog.js'
import type { ApiObject } from '../api/object.js'
import { sortTexts } from '../base/text-order.js'
import type { ItemForm, ItemSource } from '../codec/item-form.js'
import { parseJson } from '../codec/json.js'
import type { StructNode } from '../schema/node.js'
import { withoutNullFields } from '../schema/null-fields.js'
import { readValue } from '../schema/read.js'
import { countBigNumbers, writeAny, writeStoredFields } from '../schema/write.js'
import type { Entry, ScannedEntry } from '../storage/storage.js'
import type { ItemCache } from './item-cache.js'

const headerBytes = 8
/** In the upper bits of the splice: what a plain parse of the body would get wrong. */
const longNumberFlag = 0x8000_0000
const nullFlag = 0x4000_0000
const spliceMask = 0x3fff_ffff

/** What selectors look at. */
export interface SelectorIndex {
  readonly labels: { readonly [key: string]: string } | undefined
  readonly fields: { readonly [path: string]: string } | undefined
}

const braces = [Uint8Array.of(0x7b), Uint8Array.of(0x7d)] as const

const emptyIndex: SelectorIndex = { labels: undefined, fields: undefined }

export class StoredObject implements ItemSource {
  readonly entry: Entry
  private readonly value: Buffer
  private readonly kept: ItemCache | undefined
  private decoded: ApiObject | undefined
  private parsedIndex: SelectorIndex | undefined

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
  decode(resource: Pick<Resource, 'storedSchema'>): ApiObject {
    this.decoded ??= this.parse(resource.storedSchema)
    return this.decoded
  }

  index(): SelectorIndex {
    this.parsedIndex ??= this.parseIndex()
    return this.parsedIndex
  }

  render(head: Uint8Array, end: Uint8Array): Buffer {
    const scanned = scannedOf(this.entry)
    const out = Buffer.allocUnsafe(head.length + bodySize(scanned) + end.length)
    out.set(head)
    out.set(end, spliceInto(out, head.length, scanned))
    return out
  }

  item(form: ItemForm): Uint8Array {
    return (form.isStored ? undefined : this.kept?.item(this, form)) ?? this.makeItem(form)
  }

  makeItem(form: ItemForm): Uint8Array {
    if (form.isStored) return this.render(braces[0], braces[1])
    const { fromStored, storedSchema } = form.resource
    if (fromStored !== undefined) return form.item(fromStored(this.decode(form.resource)))
    return form.item(this.decoded ?? (form.ignoresZeros ? this.parseQuickly(storedSchema) : undefined) ?? this.decode(form.resource))
  }

  private get flags(): number {
    return this.value.readUInt32LE(4)
  }

  private get text(): string {
    return `{${this.value.toString('utf8', headerBytes + this.value.readUInt32LE(0))}}`
  }

  /** The wire form writes null for a time that was never set; in memory such a field is absent. */
  private parse(schema: StructNode): ApiObject {
    const { flags, text } = this
    const parsed: unknown = (flags & longNumberFlag) === 0 ? JSON.parse(text) : parseJson(Buffer.from(text)).value
    return this.withVersion((flags & nullFlag) === 0 ? parsed : readValue(schema, parsed).value)
  }

  /** The same but for zero values, which a reading leaves out where fields are null; undefined where this is no quicker. */
  private parseQuickly(schema: StructNode): ApiObject | undefined {
    if (this.flags >>> 30 !== nullFlag >>> 30) return undefined
    const text = withoutNullFields(schema, this.text)
    return text === undefined ? undefined : this.withVersion(JSON.parse(text))
  }

  private withVersion(parsed: unknown): ApiObject {
    const object = parsed as { metadata: { resourceVersion?: string } }
    object.metadata.resourceVersion = this.resourceVersion
    return object
  }

  private parseIndex(): SelectorIndex {
    const length = this.value.readUInt32LE(0)
    if (length === 0) return emptyIndex
    const { l, f } = JSON.parse(this.value.toString('utf8', headerBytes, headerBytes + length)) as {
      l?: Record<string, string>
      f?: Record<string, string>
    }
    return { labels: l, fields: f }
  }
}

const versionText = (revision: number): string => `"resourceVersion":"${revision}",`

/** Writes what stands between the braces of the wire form at a place; answers with the place behind it. */
function spliceInto(out: Buffer, at: number, { revision, bytes, start, end }: Omit<ScannedEntry, 'key'>): number {
  const bodyStart = start + headerBytes + readUint32(bytes, start)
  const head = readUint32(bytes, start + 4) & spliceMask
  const version = versionText(revision)
  const gapEnd = at + version.length
  // The whole body goes behind the gap for the version; then its head moves to the front of that.
  out.set(new Uint8Array(bytes.buffer, bytes.byteOffset + bodyStart, end - bodyStart), gapEnd)
  out.copyWithin(at, gapEnd, gapEnd + head)
  out.write(version, at + head, 'latin1')
  return gapEnd + end - bodyStart
}

/** An entry as an item of a list in stored JSON, at a place where there is room; answers with the place behind it. */
export function renderItemInto(out: Buffer, place: number, scanned: Omit<ScannedEntry, 'key'>): number {
  out[place] = openBrace
  const end = spliceInto(out, place + 1, scanned)
  out[end] = closeBrace
  return end + 1
}

/** At most so much more than the entry itself an item is: braces and version. */
export const mostAdded = 64

const bodySize = ({ revision, bytes, start, end }: Omit<ScannedEntry, 'key'>): number =>
  end - start - headerBytes - readUint32(bytes, start) + versionText(revision).length

const scannedOf = ({ revision, value }: Entry): Omit<ScannedEntry, 'key'> => ({
  revision,
  bytes: value,
  start: 0,
  end: value.length,
})

const openBrace = 0x7b
const closeBrace = 0x7d

const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0

/** The bytes of an object for the store. The version is left out: it is the revision of the write itself. */
export function encodeStored(resource: Resource, object: ApiObject): Buffer {
  const bigNumbers = countBigNumbers()
  const text = writeStoredFields(resource.storedSchema, object)
  const flags = (countBigNumbers() === bigNumbers ? 0 : longNumberFlag) | (text.includes(':null') ? nullFlag : 0)
  const uid = `"uid":"${object.metadata?.uid}",`
  const found = text.indexOf(uid)
  if (found < 0) throw new Error(`${resource.kind} ${object.metadata?.name}: an object without uid cannot be stored`)
  const head = text.slice(0, found + uid.length)
  const tail = text.slice(endOfVersion(text, head.length))
  const splice = Buffer.byteLength(head)
  const index = encodeIndex(resource, object)
  const indexLength = index === '' ? 0 : Buffer.byteLength(index)
  const bodyStart = headerBytes + indexLength
  const value = Buffer.allocUnsafe(bodyStart + splice + Buffer.byteLength(tail))
  value.writeUInt32LE(indexLength, 0)
  value.writeUInt32LE((splice | flags) >>> 0, 4)
  if (indexLength > 0) value.write(index, headerBytes)
  value.write(head, bodyStart)
  value.write(tail, bodyStart + splice)
  return value
}

const versionStart = '"resourceVersion":"'

/** Where a version that stands at a place ends, with the comma behind it. */
function endOfVersion(text: string, place: number): number {
  return text.startsWith(versionStart, place) ? text.indexOf('",', place + versionStart.length) + 2 : place
}

function encodeIndex(resource: Resource, object: ApiObject): string {
  const labels = object.metadata?.labels
  const selectable = resource.indexedFields
  if (labels === undefined && selectable === undefined) return ''
  const fields: Record<string, string> = {}
  for (const [path, get] of Object.entries(selectable ?? {})) fields[path] = get(object)
  return writeAny({ l: sorted(labels), f: selectable === undefined ? undefined : fields })
}

/** In one order, so that equal objects have equal bytes. */
function sorted(labels: SelectorIndex['labels']): SelectorIndex['labels'] {
  const keys = Object.keys(labels ?? {})
  return keys.length < 2 ? labels : Object.fromEntries(sortTexts(keys).map((key) => [key, labels?.[key] ?? '']))
}
