// How rows, history and keys are laid out as bytes in the LMDB file. Numbers are big-endian, so that bytes sort as numbers do.
//
//   row:        flags (1: has an expiry) · revision 6 · [expiry 6] · value
//   history:    previous row, or one byte for none               under  revision 6 · position 2 · kind 1 · key
//   successor:  revision 6 · position 2 · kind 1                 under  revision 6 · key
//   expiry:     one byte                                         under  time 6 · key
//
// A change keeps what was before it. What it wrote is the current row as long as nobody wrote over it, and from then on what was before the
// change that did, its successor: so each version of a value is stored once, or twice while it is the newest of several.

import type { Row } from './commit-batch.js'
import type { ChangeKind, ChangeName } from './history-views.js'
import { StorageUnavailableError } from './storage.js'

/** How a table turns a key into bytes and back: the shape that the lmdb package asks for. */
export interface KeyCodec<K> {
  writeKey(key: K, target: Buffer, start: number): number
  readKey(source: Buffer, start: number, end: number): K
}

/** Sorts by the number first: a time, or a revision. */
export interface NumberedKey {
  readonly number: number
  readonly key: string
}

/** Which change came next to a key. */
export type Successor = Omit<ChangeName, 'key'>

const hasExpiry = 1
const kinds: readonly ChangeKind[] = ['created', 'updated', 'deleted']

export const textKeys: KeyCodec<string> = {
  writeKey: (key, target, start) => start + target.write(key, start),
  readKey: (source, start, end) => source.toString('utf8', start, end),
}

/** A name without a key sorts before every change of its revision, and so serves as a bound. */
export const historyKeys: KeyCodec<ChangeName> = {
  writeKey({ revision, position, kind, key }, target, start) {
    writeKeyNumber(target, revision, start)
    target[start + 6] = position >>> 8
    target[start + 7] = position
    target[start + 8] = key === '' ? 0 : kinds.indexOf(kind) + 1
    return start + 9 + target.write(key, start + 9)
  },
  readKey(source, start, end) {
    const kind = kinds[(source[start + 8] ?? 0) - 1] ?? 'updated'
    return {
      revision: readUint48(source, start),
      position: source.readUInt16BE(start + 6),
      kind,
      key: source.toString('utf8', start + 9, end),
    }
  },
}

/** The largest number that the layout holds. */
export const endOfNumbers = 2 ** 48 - 1

export function historyBound(revision: number): ChangeName {
  return { revision, position: 0, kind: 'created', key: '' }
}

export const numberedKeys: KeyCodec<NumberedKey> = {
  writeKey({ number, key }, target, start) {
    writeKeyNumber(target, number, start)
    return start + 6 + target.write(key, start + 6)
  },
  readKey: (source, start, end) => ({ number: readUint48(source, start), key: source.toString('utf8', start + 6, end) }),
}

export function numberedBound(number: number): NumberedKey {
  return { number, key: '' }
}

export function rowBytes(row: Row | undefined): number {
  if (!row) return 0
  return (row.expiresAtMs === undefined ? 7 : 13) + row.value.length
}

export function encodeRow(row: Row, target: Buffer, start: number): void {
  target[start] = row.expiresAtMs === undefined ? 0 : hasExpiry
  writeUint48(target, row.revision, start + 1)
  if (row.expiresAtMs !== undefined) writeUint48(target, row.expiresAtMs, start + 7)
  target.set(row.value, start + (row.expiresAtMs === undefined ? 7 : 13))
}

/** `bytes` are valid only during the call, so the value is copied out. */
export function readRow(bytes: Uint8Array, start: number, end: number): Row {
  const flags = bytes[start] ?? 0
  const valueStart = flags & hasExpiry ? start + 13 : start + 7
  if (valueStart > end || end > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  return {
    revision: readUint48(bytes, start + 1),
    value: keepBytes(bytes, valueStart, end),
    expiresAtMs: flags & hasExpiry ? readUint48(bytes, start + 7) : undefined,
  }
}

/** A row whose value stays where it is. */
export interface BorrowedRow {
  revision: number
  bytes: Uint8Array
  start: number
  end: number
}

const borrowed: BorrowedRow = { revision: 0, bytes: new Uint8Array(), start: 0, end: 0 }

/** Always the same object: what was borrowed before is no longer true. */
export function borrowRow(bytes: Uint8Array): BorrowedRow {
  const start = (bytes[0] ?? 0) & hasExpiry ? 13 : 7
  if (start > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  borrowed.revision = readUint48(bytes, 1)
  borrowed.bytes = bytes
  borrowed.start = start
  borrowed.end = bytes.length
  return borrowed
}

/** What was before a change. */
export const readHistory = (bytes: Uint8Array): { readonly previous: Row | undefined } => ({
  previous: bytes.length > 1 ? readRow(bytes, 0, bytes.length) : undefined,
})

export const successorBytes = 9

export function writeSuccessor({ revision, position, kind }: Successor, target: Buffer, start: number): void {
  writeUint48(target, revision, start)
  target.writeUInt16BE(position, start + 6)
  target[start + 8] = kinds.indexOf(kind) + 1
}

export function readSuccessor(bytes: Uint8Array): Successor {
  return {
    revision: readUint48(bytes, 0),
    position: Buffer.prototype.readUInt16BE.call(bytes, 6),
    kind: kinds[(bytes[8] ?? 0) - 1] ?? 'updated',
  }
}

export function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(6)
  writeUint48(bytes, value, 0)
  return bytes
}

/** Byte by byte: several of these are part of every write, and the methods of Buffer check each call anew. */
export function writeUint48(target: Uint8Array, value: number, start: number): void {
  const high = Math.floor(value / 2 ** 32)
  const low = value >>> 0
  target[start] = high >>> 8
  target[start + 1] = high
  target[start + 2] = low >>> 24
  target[start + 3] = low >>> 16
  target[start + 4] = low >>> 8
  target[start + 5] = low
}

/**
 * The same for keys, which are written into memory of the lmdb package. One function for both would meet so many kinds of buffers that the
 * platform stops to tell them apart, and each byte would take ten times as long.
 */
function writeKeyNumber(target: Uint8Array, value: number, start: number): void {
  const high = Math.floor(value / 2 ** 32)
  const low = value >>> 0
  target[start] = high >>> 8
  target[start + 1] = high
  target[start + 2] = low >>> 24
  target[start + 3] = low >>> 16
  target[start + 4] = low >>> 8
  target[start + 5] = low
}

export function readUint48(bytes: Uint8Array, start: number): number {
  if (start + 6 > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  const byte = (at: number): number => bytes[start + at] as number
  return ((byte(0) << 8) | byte(1)) * 2 ** 32 + (((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0)
}

const slabBytes = 32_768
let slab = Buffer.allocUnsafeSlow(slabBytes)
let slabUsed = 0

/** A copy. Small values share an allocation, which makes a page of a list several times cheaper. */
function keepBytes(bytes: Uint8Array, start: number, end: number): Buffer {
  const size = end - start
  const source = new Uint8Array(bytes.buffer, bytes.byteOffset + start, size)
  if (size > slabBytes >> 3) {
    const own = Buffer.allocUnsafeSlow(size)
    own.set(source)
    return own
  }
  if (slabUsed + size > slabBytes) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    slabUsed = 0
  }
  const kept = slab.subarray(slabUsed, slabUsed + size)
  kept.set(source)
  slabUsed += size
  return kept
}
