// What a stored entry says of itself in front of its body, so that it can be told what it is without parsing it.
//
//   entry = [meta length: u24][format: u8][splice: u32, with flags][meta][body: JSON members]
//   meta  = [index version: u32][length: u8][apiVersion][owners: varint]([length: varint][uid])*[index: JSON]
//
// Groups and versions of custom kinds may be 315 bytes together: an apiVersion that is longer than its byte can say has 0 there, and the length
// as u16 behind it. Older servers know none that long.
//
// Numbers are little-endian. `format` is 1; entries of format 0 were written before entries had one, and their meta is the index alone.
// `apiVersion` is the version in which the body is written: mostly the kind's storage version, but for one that was written before that
// changed. `index version` tells which fields the index has, and `owners` are the uids of `metadata.ownerReferences`, each once.
// The splice stands where it always stood, so whatever only copies a body need not know the format.

import type { Entry, ScannedEntry } from '../storage/storage.js'

/** The bytes of an entry, somewhere. */
export type EntryBytes = Pick<ScannedEntry, 'bytes' | 'start' | 'end'>

export const entryFormat = 1
export const fixedBytes = 8
const mostMetaBytes = 0xff_ffff
const longestShort = 0xff
const longestApiVersion = 0xffff

export interface EntryMeta {
  readonly apiVersion: string
  readonly indexVersion: number
  readonly owners: readonly string[]
}

export const bytesOf = ({ value }: Pick<Entry, 'value'>): EntryBytes => ({ bytes: value, start: 0, end: value.length })

export const formatOf = ({ bytes, start }: EntryBytes): number => bytes[start + 3] ?? 0

/** Where the body begins, in every format. */
export const bodyStartOf = ({ bytes, start }: EntryBytes): number => start + fixedBytes + metaLength(bytes, start)

/** Of its number in an entry. */
export const spliceOffset = 4

export const spliceOf = ({ bytes, start }: EntryBytes): number => readUint32(bytes, start + spliceOffset)

const metaLength = (bytes: Uint8Array, start: number): number =>
  (bytes[start] ?? 0) | ((bytes[start + 1] ?? 0) << 8) | ((bytes[start + 2] ?? 0) << 16)

/** Undefined where the entry is too old to say. */
export function indexVersionOf(entry: EntryBytes): number | undefined {
  return hasMeta(entry) ? readUint32(entry.bytes, entry.start + fixedBytes) : undefined
}

/** Undefined where the entry is too old to say. */
export function apiVersionOf(entry: EntryBytes): string | undefined {
  if (!hasMeta(entry)) return undefined
  const start = entry.start + fixedBytes + (isShort(entry) ? 5 : 7)
  return textAt(entry.bytes, start, ownersPlace(entry))
}

/** Whether a byte tells the length of the apiVersion. */
const isShort = ({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>): boolean => bytes[start + fixedBytes + 4] !== 0

/** The uids of the owners of an entry, each once. Throws for an entry that is too old to say: the store was not upgraded. */
export function ownersOf(entry: EntryBytes): readonly string[] {
  if (!hasMeta(entry)) throw new RangeError('an entry of an older format does not tell its owners')
  let owners: string[] | undefined
  eachOwner(entry, (start, end) => {
    owners ??= []
    owners.push(textAt(entry.bytes, start, end))
  })
  return owners ?? nobody
}

const nobody: readonly string[] = []

/** Whether two entries have the same owners, in the same order: what most changes leave as it is. Nothing is decoded. */
export function haveSameOwners(one: EntryBytes, other: EntryBytes): boolean {
  if (!hasMeta(one) || !hasMeta(other)) throw new RangeError('an entry of an older format does not tell its owners')
  const [start, otherStart] = [ownersPlace(one), ownersPlace(other)]
  const count = one.bytes[start] ?? 0
  if (count === 0 || other.bytes[otherStart] === 0) return count === other.bytes[otherStart]
  const end = eachOwner(one, ignore)
  for (let at = start; at < end; at++) if (one.bytes[at] !== other.bytes[at - start + otherStart]) return false
  return true
}

/** Right behind the apiVersion. */
function ownersPlace({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>): number {
  const at = start + fixedBytes + 4
  const short = bytes[at] ?? 0
  return short === 0 ? at + 3 + ((bytes[at + 1] ?? 0) | ((bytes[at + 2] ?? 0) << 8)) : at + 1 + short
}

/** Whether one of the owners has this uid, given as its UTF-8 bytes: nothing is decoded. */
export function isOwnedBy(entry: EntryBytes, uid: Uint8Array): boolean {
  if (!hasMeta(entry)) throw new RangeError('an entry of an older format does not tell its owners')
  let isFound = false
  eachOwner(entry, (start, end) => {
    isFound ||= end - start === uid.length && startsWith(entry.bytes, start, uid)
  })
  return isFound
}

/** Whether an entry begins as those of a kind do that are written now: see headOf. */
export const isWrittenAs = ({ bytes, start }: EntryBytes, head: EntryHead): boolean =>
  bytes[start + 3] === entryFormat && startsWith(bytes, start + fixedBytes + 4, head.apiVersionBytes)

/** Where the index is; empty where there is none. */
export function indexPlace(entry: EntryBytes): { readonly start: number; readonly end: number } {
  const end = bodyStartOf(entry)
  return { start: hasMeta(entry) ? eachOwner(entry, ignore) : entry.start + fixedBytes, end }
}

/** What all entries of a kind have in common that are written now. */
export interface EntryHead {
  /** Index version, length and apiVersion: the beginning of the meta. */
  readonly bytes: Uint8Array
  /** The same without the index version. */
  readonly apiVersionBytes: Uint8Array
}

export function makeHead(apiVersion: string, indexVersion: number): EntryHead {
  const text = Buffer.from(apiVersion)
  if (text.length > longestApiVersion) throw new RangeError(`the version ${apiVersion} is too long to be stored`)
  const isLong = text.length > longestShort
  const bytes = Buffer.alloc((isLong ? 7 : 5) + text.length)
  bytes.writeUInt32LE(indexVersion, 0)
  if (isLong) bytes.writeUInt16LE(text.length, 5)
  else bytes[4] = text.length
  text.copy(bytes, isLong ? 7 : 5)
  return { bytes, apiVersionBytes: bytes.subarray(4) }
}

/** An entry from its parts: the two halves of the body are what stands before and behind the place of the version. */
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
  if (bodyStart - fixedBytes > mostMetaBytes) throw new RangeError('the labels and owners of an object are too long to be stored')
  const splice = Buffer.byteLength(before)
  const bodyLength = splice + Buffer.byteLength(behind)
  const value = Buffer.allocUnsafe(bodyStart + bodyLength)
  value.writeUInt32LE(((bodyStart - fixedBytes) | (entryFormat << 24)) >>> 0, 0)
  value.writeUInt32LE((splice | flags) >>> 0, spliceOffset)
  value.set(head.bytes, fixedBytes)
  if (owners.length === 0) value[ownersStart] = 0
  else writeOwners(value, ownersStart, owners)
  if (index !== '') value.write(index, indexStart)
  // A plain copy takes a fraction of what it takes to look for characters of several bytes.
  const encoding = bodyLength === before.length + behind.length ? 'latin1' : 'utf8'
  value.write(before, bodyStart, encoding)
  value.write(behind, bodyStart + splice, encoding)
  return value
}

/** An entry of format 0 as it would have been written now. Its index and body are copied. */
export function withMeta(old: Buffer, { apiVersion, indexVersion, owners }: EntryMeta): Buffer {
  const head = makeHead(apiVersion, indexVersion)
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
  if (format > entryFormat)
    throw new RangeError(`an entry has format ${format}, this server knows ${entryFormat}: use the newer server that wrote it`)
  return format === entryFormat
}

/** Answers with the place behind the owners. */
function eachOwner({ bytes, start }: Pick<EntryBytes, 'bytes' | 'start'>, visit: (start: number, end: number) => void): number {
  let at = ownersPlace({ bytes, start })
  let count = bytes[at] ?? 0
  if (count === 0) return at + 1
  const read = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at++] ?? 0
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
  }
  for (count = read(); count > 0; count--) {
    const size = read()
    visit(at, at + size)
    at += size
  }
  return at
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

function writeOwners(out: Buffer, place: number, owners: readonly string[]): number {
  let at = writeVarint(out, place, owners.length)
  for (const uid of owners) {
    at = writeVarint(out, at, Buffer.byteLength(uid))
    at += out.write(uid, at)
  }
  return at
}

function varintLength(value: number): number {
  let bytes = 1
  for (let left = value; left >= 0x80; left >>>= 7) bytes += 1
  return bytes
}

function writeVarint(out: Buffer, place: number, value: number): number {
  let at = place
  let left = value
  for (; left >= 0x80; left >>>= 7) out[at++] = (left & 0x7f) | 0x80
  out[at++] = left
  return at
}

function startsWith(bytes: Uint8Array, at: number, wanted: Uint8Array): boolean {
  for (let i = 0; i < wanted.length; i++) if (bytes[at + i] !== wanted[i]) return false
  return true
}

/** Not a method of the bytes: those of the store may be plain ones. */
const textAt = (bytes: Uint8Array, start: number, end: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8')

export const readUint32 = (bytes: Uint8Array, at: number): number =>
  ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
