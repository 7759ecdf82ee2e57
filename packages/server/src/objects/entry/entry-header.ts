// Header of a stored entry: format, API version, owner uids and selector index, readable without parsing the JSON body.
//
//   entry = [meta length: u24][format: u8][splice and flags: u32][meta][body: JSON of the object without its braces]
//   meta  = [index version: u32][length: u8][apiVersion][number of owners: varint]([length: varint][uid])*[index: JSON]
//
// Numbers are little-endian. An apiVersion longer than 255 bytes has length 0, followed by its length as u16.
// `format` is 1; in format 0 meta is the index alone. `apiVersion` is the version of the body: the storage version when it was written.
// `index version` identifies the indexed fields; owners are the distinct uids of `metadata.ownerReferences`.
// `splice` (lower 30 bits): offset in the body at which readers insert the resourceVersion. Flags (upper 2 bits): long numbers, nulls.

import { indexVersionFor } from '@cluster-apiserver/api/api/catalog/field-index-version.js'
import { type Entry, isEncrypted, type ScannedEntry } from '../../storage/storage.js'

export type EntryBytes = Pick<ScannedEntry, 'bytes' | 'start' | 'end'>

const entryFormat = 1
export const fixedBytes = 8
const maxMetaBytes = 0xff_ffff
const maxShortLength = 0xff
const maxApiVersionBytes = 0xffff

interface EntryMeta {
  readonly apiVersion: string
  readonly indexVersion: number
  readonly owners: readonly string[]
}

export const bytesOf = ({ value }: Pick<Entry, 'value'>): EntryBytes => ({ bytes: value, start: 0, end: value.length })

export const formatOf = ({ bytes, start }: EntryBytes): number => bytes[start + 3] ?? 0

export const bodyStartOf = ({ bytes, start }: EntryBytes): number => start + fixedBytes + metaLength(bytes, start)

const spliceOffset = 4
/** Bits of the splice; the others are flags. */
export const spliceMask = 0x3fff_ffff

export const spliceAndFlagsOf = ({ bytes, start }: EntryBytes): number => readUint32(bytes, start + spliceOffset)

const metaLength = (bytes: Uint8Array, start: number): number =>
  (bytes[start] ?? 0) | ((bytes[start + 1] ?? 0) << 8) | ((bytes[start + 2] ?? 0) << 16)

export function indexVersionOf(entry: EntryBytes): number | undefined {
  return hasMeta(entry) ? readUint32(entry.bytes, entry.start + fixedBytes) : undefined
}

/** Undefined for format 0, which has no apiVersion. */
export function apiVersionOf(entry: EntryBytes): string | undefined {
  if (!hasMeta(entry)) return undefined
  const start = entry.start + fixedBytes + (isShort(entry) ? 5 : 7)
  return textAt(entry.bytes, start, ownersStart(entry))
}

const isShort = ({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>): boolean => bytes[start + fixedBytes + 4] !== 0

/** Distinct owner uids. Throws for format 0, which has none; the server upgrades such stores at start. */
export function ownersOf(entry: EntryBytes): readonly string[] {
  if (!hasMeta(entry)) throw new RangeError('an entry of an older format has no owners in its header')
  let owners: string[] | undefined
  eachOwner(entry, (start, end) => {
    owners ??= []
    owners.push(textAt(entry.bytes, start, end))
  })
  return owners ?? noUids
}

export const noUids: readonly string[] = []

/** True for the same uids in the same order. Compares bytes: most changes of an object do not change its owners. */
export function haveSameOwners(one: EntryBytes, other: EntryBytes): boolean {
  if (!hasMeta(one) || !hasMeta(other)) throw new RangeError('an entry of an older format has no owners in its header')
  const [start, otherStart] = [ownersStart(one), ownersStart(other)]
  const count = one.bytes[start] ?? 0
  if (count === 0 || other.bytes[otherStart] === 0) return count === other.bytes[otherStart]
  const end = eachOwner(one, ignore)
  for (let offset = start; offset < end; offset++) if (one.bytes[offset] !== other.bytes[offset - start + otherStart]) return false
  return true
}

function ownersStart({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>): number {
  const offset = start + fixedBytes + 4
  const shortLength = bytes[offset] ?? 0
  return shortLength === 0 ? offset + 3 + ((bytes[offset + 1] ?? 0) | ((bytes[offset + 2] ?? 0) << 8)) : offset + 1 + shortLength
}

/** True if the entry has the current format and the API version of `head`. */
export const isWrittenAs = ({ bytes, start }: EntryBytes, head: EntryHead): boolean =>
  bytes[start + 3] === entryFormat && startsWith(bytes, start + fixedBytes + 4, head.apiVersionBytes)

function indexSpan(entry: EntryBytes): { readonly start: number; readonly end: number } {
  const end = bodyStartOf(entry)
  return { start: hasMeta(entry) ? eachOwner(entry, ignore) : entry.start + fixedBytes, end }
}

/** Labels and selectable fields, for selectors. */
export interface SelectorIndex {
  readonly labels: { readonly [key: string]: string } | undefined
  readonly fields: { readonly [path: string]: string } | undefined
}

const emptyIndex: SelectorIndex = { labels: undefined, fields: undefined }
const noFieldsVersion = indexVersionFor([])

export function parseIndex({ value }: Pick<Entry, 'value'>): { readonly index: SelectorIndex; readonly version: number } {
  const span = indexSpan(bytesOf({ value }))
  const version = indexVersionOf(bytesOf({ value }))
  if (span.start === span.end) return { index: emptyIndex, version: version ?? noFieldsVersion }
  const { l, f } = JSON.parse(value.toString('utf8', span.start, span.end)) as {
    l?: Record<string, string>
    f?: Record<string, string>
  }
  return { index: { labels: l, fields: f }, version: version ?? indexVersionFor(Object.keys(f ?? {})) }
}

/** Start of meta (index version and apiVersion), the same for all entries of a kind. */
export interface EntryHead {
  readonly bytes: Uint8Array
  readonly apiVersionBytes: Uint8Array
}

export function createHead(apiVersion: string, indexVersion: number): EntryHead {
  const text = Buffer.from(apiVersion)
  if (text.length > maxApiVersionBytes) throw new RangeError(`the version ${apiVersion} is too long to be stored`)
  const isLong = text.length > maxShortLength
  const bytes = Buffer.alloc((isLong ? 7 : 5) + text.length)
  bytes.writeUInt32LE(indexVersion, 0)
  if (isLong) bytes.writeUInt16LE(text.length, 5)
  else bytes[4] = text.length
  text.copy(bytes, isLong ? 7 : 5)
  return { bytes, apiVersionBytes: bytes.subarray(4) }
}

/** Encodes an entry; `before` and `behind` are the parts of the body around the splice. */
export function joinEntry(
  head: EntryHead,
  parts: {
    readonly owners: readonly string[]
    readonly index: string
    readonly before: string
    readonly behind: string
    readonly flags: number
  },
): Buffer {
  const { owners, index, before, behind, flags } = parts
  const ownersStart = fixedBytes + head.bytes.length
  const indexStart = ownersStart + (owners.length === 0 ? 1 : ownersLength(owners))
  const bodyStart = indexStart + (index === '' ? 0 : Buffer.byteLength(index))
  if (bodyStart - fixedBytes > maxMetaBytes) throw new RangeError('the labels and owners of an object are too long to be stored')
  const splice = Buffer.byteLength(before)
  const bodyLength = splice + Buffer.byteLength(behind)
  const value = Buffer.allocUnsafe(bodyStart + bodyLength)
  value.writeUInt32LE(((bodyStart - fixedBytes) | (entryFormat << 24)) >>> 0, 0)
  value.writeUInt32LE((splice | flags) >>> 0, spliceOffset)
  value.set(head.bytes, fixedBytes)
  if (owners.length === 0) value[ownersStart] = 0
  else writeOwners(value, ownersStart, owners)
  if (index !== '') value.write(index, indexStart)
  // latin1 is several times faster, and right if every character has one byte.
  const encoding = bodyLength === before.length + behind.length ? 'latin1' : 'utf8'
  value.write(before, bodyStart, encoding)
  value.write(behind, bodyStart + splice, encoding)
  return value
}

/** Adds meta to an entry of format 0. */
export function withMeta(old: Buffer, { apiVersion, indexVersion, owners }: EntryMeta): Buffer {
  const head = createHead(apiVersion, indexVersion)
  const rest = old.subarray(fixedBytes)
  const added = head.bytes.length + ownersLength(owners)
  const value = Buffer.allocUnsafe(fixedBytes + added + rest.length)
  value.writeUInt32LE((metaLength(old, 0) + added) | (entryFormat << 24), 0)
  value.writeUInt32LE(readUint32(old, spliceOffset), spliceOffset)
  value.set(head.bytes, fixedBytes)
  rest.copy(value, writeOwners(value, fixedBytes + head.bytes.length, owners))
  return value
}

function hasMeta(entry: EntryBytes): boolean {
  const format = formatOf(entry)
  if (format > entryFormat) throw new RangeError(unknownFormat(entry, format))
  return format === entryFormat
}

const unknownFormat = ({ bytes, start }: EntryBytes, format: number): string =>
  isEncrypted(bytes.subarray(start))
    ? 'an entry is encrypted: start the server with the --encryption-provider-config that has its key'
    : `an entry has format ${format}, this server knows ${entryFormat}: use the newer server that wrote it`

function eachOwner({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>, visit: (start: number, end: number) => void): number {
  let offset = ownersStart({ bytes, start })
  let count = bytes[offset] ?? 0
  if (count === 0) return offset + 1
  const readVarint = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  for (count = readVarint(); count > 0; count--) {
    const size = readVarint()
    visit(offset, offset + size)
    offset += size
  }
  return offset
}

const ignore = (): void => undefined

function ownersLength(owners: readonly string[]): number {
  let bytes = varintLength(owners.length)
  for (const uid of owners) {
    const length = Buffer.byteLength(uid)
    bytes += varintLength(length) + length
  }
  return bytes
}

function writeOwners(out: Buffer, start: number, owners: readonly string[]): number {
  let offset = writeVarint(out, start, owners.length)
  for (const uid of owners) {
    offset = writeVarint(out, offset, Buffer.byteLength(uid))
    offset += out.write(uid, offset)
  }
  return offset
}

function varintLength(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest >>>= 7) bytes += 1
  return bytes
}

function writeVarint(out: Buffer, start: number, value: number): number {
  let offset = start
  let rest = value
  for (; rest >= 0x80; rest >>>= 7) out[offset++] = (rest & 0x7f) | 0x80
  out[offset++] = rest
  return offset
}

export function startsWith(bytes: Uint8Array, offset: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[offset + i] !== wanted[i]) return false
  return true
}

/** A scan of the store may yield a Uint8Array that is not a Buffer. */
const textAt = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')

const readUint32 = (bytes: Uint8Array, offset: number): number =>
  ((bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8) | ((bytes[offset + 2] ?? 0) << 16) | ((bytes[offset + 3] ?? 0) << 24)) >>> 0
