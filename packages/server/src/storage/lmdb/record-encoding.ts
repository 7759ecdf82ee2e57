// Encoding of rows, history and keys in the LMDB file, with the bytes of each field. Numbers are big-endian, so that bytes sort like them.
//   row:        flags (1: has an expiry) · revision 6 · [expiry 6] · value
//   history:    previous row, or one byte for none               under  revision 6 · position 2 · kind 1 · key
//   successor:  revision 6 · position 2 · kind 1                 under  revision 6 · key
//   expiry:     one byte                                         under  time 6 · key
// A change stores the row before it. The row it wrote is the current row, or the row before its successor, the next change of the key.

import type { Row } from '../commit-queue.js'
import type { ChangeId, ChangeKind } from '../history-views.js'
import { StorageUnavailableError } from '../storage.js'

export interface KeyCodec<K> {
  writeKey(key: K, target: Buffer, start: number): number
  readKey(source: Buffer, start: number, end: number): K
}

export interface NumberedKey {
  readonly number: number
  readonly key: string
}

export type Successor = Omit<ChangeId, 'key'>

const expiryFlag = 1
const kinds: readonly ChangeKind[] = ['created', 'updated', 'deleted']

export const textKeys: KeyCodec<string> = {
  writeKey: (key, target, start) => start + target.write(key, start),
  readKey: (source, start, end) => source.toString('utf8', start, end),
}

/** An id without a key sorts before every change of its revision, and serves as a bound. */
export const historyKeys: KeyCodec<ChangeId> = {
  writeKey({ revision, position, kind, key }, target, start) {
    writeUint48(target, revision, start)
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

export const maxUint48 = 2 ** 48 - 1

export function historyBound(revision: number): ChangeId {
  return { revision, position: 0, kind: 'created', key: '' }
}

export const numberedKeys: KeyCodec<NumberedKey> = {
  writeKey({ number, key }, target, start) {
    writeUint48(target, number, start)
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
  target[start] = row.expiresAtMs === undefined ? 0 : expiryFlag
  writeUint48(target, row.revision, start + 1)
  if (row.expiresAtMs !== undefined) writeUint48(target, row.expiresAtMs, start + 7)
  target.set(row.value, start + (row.expiresAtMs === undefined ? 7 : 13))
}

/** `bytes` are valid only during the call, so the value is copied. */
export function readRow(bytes: Uint8Array, start: number, end: number): Row {
  const flags = bytes[start] ?? 0
  const valueStart = flags & expiryFlag ? start + 13 : start + 7
  if (valueStart > end || end > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  return {
    revision: readUint48(bytes, start + 1),
    value: copyBytes(bytes, valueStart, end),
    expiresAtMs: flags & expiryFlag ? readUint48(bytes, start + 7) : undefined,
  }
}

export interface RowView {
  revision: number
  bytes: Uint8Array
  start: number
  end: number
}

const sharedView: RowView = { revision: 0, bytes: new Uint8Array(), start: 0, end: 0 }

/** Returns the same object each time. */
export function viewRow(bytes: Uint8Array): RowView {
  const start = (bytes[0] ?? 0) & expiryFlag ? 13 : 7
  if (start > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  sharedView.revision = readUint48(bytes, 1)
  sharedView.bytes = bytes
  sharedView.start = start
  sharedView.end = bytes.length
  return sharedView
}

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

/** Byte by byte, because each write needs several and the methods of Buffer check every call. */
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

export function readUint48(bytes: Uint8Array, start: number): number {
  if (start + 6 > bytes.length) throw new StorageUnavailableError('a record of the data file is damaged')
  const byte = (index: number): number => bytes[start + index] as number
  return ((byte(0) << 8) | byte(1)) * 2 ** 32 + (((byte(2) << 24) | (byte(3) << 16) | (byte(4) << 8) | byte(5)) >>> 0)
}

const slabBytes = 32_768
let slab = Buffer.allocUnsafeSlow(slabBytes)
let slabUsed = 0

/** Copies bytes. Small values share an allocation, which makes a page of a list several times cheaper. */
function copyBytes(bytes: Uint8Array, start: number, end: number): Buffer {
  const size = end - start
  const source = new Uint8Array(bytes.buffer, bytes.byteOffset + start, size)
  if (size > slabBytes >> 3) {
    const copy = Buffer.allocUnsafeSlow(size)
    copy.set(source)
    return copy
  }
  if (slabUsed + size > slabBytes) {
    slab = Buffer.allocUnsafeSlow(slabBytes)
    slabUsed = 0
  }
  const copy = slab.subarray(slabUsed, slabUsed + size)
  copy.set(source)
  slabUsed += size
  return copy
}
