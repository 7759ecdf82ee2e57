// How rows, history and keys are laid out as bytes in the LMDB file. Numbers are big-endian, so that bytes sort as numbers do.
//
//   row:      flags (1: has an expiry) · revision 6 · [expiry 6] · value
//   history:  length of the previous row 4 · previous row · new row      under  revision 6 · position 2 · kind 1 · key
//   expiry:   nothing                                                    under  time 6 · key
//
// The new row ends the history record, so a write prepares its bytes once for both tables.

import type { Row } from './commit-batch.js'
import type { ChangeKind, ChangeName } from './history-views.js'
import { StorageUnavailableError } from './storage.js'

/** How a table turns a key into bytes and back: the shape that the lmdb package asks for. */
export interface KeyCodec<K> {
  writeKey(key: K, target: Buffer, start: number): number
  readKey(source: Buffer, start: number, end: number): K
}

export interface ExpiryKey {
  readonly timeMs: number
  readonly key: string
}

export interface HistoryRecord {
  readonly previous: Row | undefined
  readonly row: Row | undefined
}

const hasExpiry = 1
const kinds: readonly ChangeKind[] = ['created', 'updated', 'deleted']

export const textKeys: KeyCodec<string> = {
  writeKey: (key, target, start) => start + target.write(key, start),
  readKey: (source, start, end) => source.toString('utf8', start, end),
}

/** A name without a key sorts before every change of its revision, and so serves as a bound. */
export const historyKeys: KeyCodec<ChangeName> = {
  writeKey({ revision, position, kind, key }, target, start) {
    writeUint48(target, revision, start)
    target.writeUInt16BE(position, start + 6)
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

export const expiryKeys: KeyCodec<ExpiryKey> = {
  writeKey({ timeMs, key }, target, start) {
    writeUint48(target, timeMs, start)
    return start + 6 + target.write(key, start + 6)
  },
  readKey: (source, start, end) => ({ timeMs: readUint48(source, start), key: source.toString('utf8', start + 6, end) }),
}

export function expiryBound(timeMs: number): ExpiryKey {
  return { timeMs, key: '' }
}

export function rowBytes(row: Row | undefined): number {
  if (!row) return 0
  return (row.expiresAtMs === undefined ? 7 : 13) + row.value.length
}

export function writeRow(row: Row, target: Buffer, start: number): void {
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

export function readHistory(bytes: Uint8Array): HistoryRecord {
  const end = bytes.length
  const rowStart = 4 + Buffer.prototype.readUInt32BE.call(bytes, 0)
  return {
    previous: rowStart > 4 ? readRow(bytes, 4, rowStart) : undefined,
    row: rowStart < end ? readRow(bytes, rowStart, end) : undefined,
  }
}

export function numberBytes(value: number): Buffer {
  const bytes = Buffer.allocUnsafe(6)
  writeUint48(bytes, value, 0)
  return bytes
}

function writeUint48(target: Buffer, value: number, start: number): void {
  target.writeUInt16BE(Math.floor(value / 2 ** 32), start)
  target.writeUInt32BE(value >>> 0, start + 2)
}

export function readUint48(bytes: Uint8Array, start: number): number {
  return Buffer.prototype.readUIntBE.call(bytes, start, 6)
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
