// Reads an etcd snapshot: the newest value of each key that is not deleted. Bucket `key` has a row for each revision:
//   key   = [revision: u64][_][index in the transaction: u64], big-endian; a deletion has a `t` at the end
//   value = message KeyValue: key = 1, value = 5
// `etcdctl snapshot save` adds the SHA-256 of the database.

import { createHash } from 'node:crypto'
import {
  ProtobufReadError,
  readerOf,
  readRaw,
  readText,
  readVarint,
  skipField,
} from '@cluster-apiserver/api/base/protobuf/protobuf-reader.js'
import { type BoltEntry, BoltError, type RandomAccess, readBucket } from './bolt-database.js'

export interface SnapshotEntry {
  readonly revision: number
  readonly value: Buffer
}

export interface EtcdSnapshot {
  /** Revision of the last write, deletions included. */
  readonly revision: number
  readonly entries: ReadonlyMap<string, SnapshotEntry>
}

const revisionBytes = 17
const tombstone = 't'.charCodeAt(0)
const separator = '_'.charCodeAt(0)
const sha256Bytes = 32
/** Databases consist of whole sectors, so a rest of 32 bytes is a checksum. */
const sectorBytes = 512
const hashedChunkBytes = 1 << 20

/** Yields between steps, so that the caller can yield to the event loop. Throws a BoltError for a damaged file. */
export function* readEtcdSnapshot(file: RandomAccess): Generator<undefined, EtcdSnapshot, void> {
  yield* verifyChecksum(file)
  const rows = readBucket(file, 'key')
  if (rows === undefined) throw new BoltError(0, 'the database has no bucket "key": it is not a snapshot of etcd')
  const entries = new Map<string, SnapshotEntry>()
  let revision = 0
  let previous: Buffer | undefined
  for (const row of rows) {
    if (previous !== undefined && previous.compare(row.key) >= 0)
      throw new BoltError(row.position, `revision ${row.key.toString('hex')} is out of order`)
    previous = row.key
    const { isDeletion, ...written } = readRevision(row)
    revision = written.revision
    const { key, value } = readKeyValue(row, revision)
    if (isDeletion) entries.delete(key)
    else entries.set(key, { revision, value })
    yield undefined
  }
  return { revision, entries }
}

function readRevision({ key, position }: BoltEntry): { readonly revision: number; readonly isDeletion: boolean } {
  const isMarked = key.length === revisionBytes + 1 && key[revisionBytes] === tombstone
  const revision = key.length < revisionBytes ? Number.NaN : Number(key.readBigUInt64BE(0))
  if ((key.length !== revisionBytes && !isMarked) || key[8] !== separator || !Number.isSafeInteger(revision))
    throw new BoltError(position, `the bucket "key" has a key that is no revision: ${key.subarray(0, 32).toString('hex')}`)
  return { revision, isDeletion: isMarked }
}

const keyTag = 0x0a
const valueTag = 0x2a

function readKeyValue({ value: bytes, position }: BoltEntry, revision: number): { readonly key: string; readonly value: Buffer } {
  const reader = readerOf(bytes)
  let key = ''
  let value: Uint8Array = bytes.subarray(0, 0)
  try {
    while (reader.at < reader.end) {
      const tag = Number(readVarint(reader))
      if (tag === keyTag) key = readText(reader)
      else if (tag === valueTag) value = readRaw(reader)
      else skipField(reader, tag & 7)
    }
  } catch (thrown) {
    if (!(thrown instanceof ProtobufReadError)) throw thrown
    throw new BoltError(position, `the value of revision ${revision} is damaged: ${thrown.message}`)
  }
  return { key, value: Buffer.from(value.buffer, value.byteOffset, value.length) }
}

function* verifyChecksum(file: RandomAccess): Generator<undefined, void, void> {
  if (file.size % sectorBytes !== sha256Bytes) return
  const end = file.size - sha256Bytes
  const hash = createHash('sha256')
  for (let offset = 0; offset < end; offset += hashedChunkBytes) {
    hash.update(file.read(offset, Math.min(hashedChunkBytes, end - offset)))
    yield undefined
  }
  const [computed, expected] = [hash.digest('hex'), file.read(end, sha256Bytes).toString('hex')]
  if (computed !== expected) throw new BoltError(end, `the snapshot is damaged: its checksum is ${computed}, expected ${expected}`)
}
