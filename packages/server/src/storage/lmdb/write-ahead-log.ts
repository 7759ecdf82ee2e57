// The write-ahead log of the embedded engine: a batch is durable after one small write, where LMDB writes several pages and syncs twice.
// Two files alternate: each is overwritten from its start once the data file has all of its records. Record numbers only grow.
// Records, with the bytes of each field:
//   record:  checksum 4 · length 4 · number 6 · revision before it 6 · its writes
//   write:   revision 6 · position 2 · flags 1 (1: has a value, 2: has an expiry) · key length 2 · value length 4 · [expiry 6] · key · value
// The checksum starts with a secret number of the data file, so that neither another file's log nor a stored value passes for a record.
// The record of a batch that was reported as failed may be complete; the next record starts at the same revision and replaces it.

import { closeSync, constants, fdatasync, fstatSync, ftruncate, ftruncateSync, openSync, readFileSync, write, writev } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { Row, StagedWrite } from '../commit-queue.js'
import { readUint48, writeUint48 } from './record-encoding.js'

export interface LoggedWrite {
  readonly revision: number
  readonly position: number
  readonly key: string
  readonly value: Buffer | undefined
  readonly expiresAtMs: number | undefined
}

export interface LogContents {
  /** Writes after the requested revision, in order. */
  readonly writes: readonly LoggedWrite[]
  /** The greatest record number, old records included. */
  readonly lastNumber: number
  /** Revision before the next record, if there is a gap: the writes up to it are lost. */
  readonly gapUntil: number | undefined
}

interface LogRecord {
  readonly number: number
  readonly revisionBefore: number
  readonly writes: readonly LoggedWrite[]
}

interface LogFile {
  readonly descriptor: number
  end: number
  /** Size of the file with older records. */
  size: number
  revision: number
}

const recordHeaderBytes = 20
const writeHeaderBytes = 15
const valueFlag = 1
const expiryFlag = 2
const bufferBytes = 1 << 18
/** Longer values are not copied into the record's buffer. */
const maxCopiedBytes = 8 << 10
/** A larger file is truncated when it is reused. */
const maxReusedBytes = 4 << 20

export const logPaths = (path: string): readonly [string, string] => [`${path}.log-0`, `${path}.log-1`]

/** On other systems O_DSYNC does not reach the disk. */
const isSyncedByWrite = process.platform === 'linux'
const openFlags = constants.O_RDWR | constants.O_CREAT | (isSyncedByWrite ? constants.O_DSYNC : 0)

interface LogOptions {
  readonly path: string
  readonly seed: number
  readonly lastNumber: number
  readonly checkpointed: () => number
}

export class WriteAheadLog {
  readonly #options: LogOptions
  #active: LogFile
  #inactive: LogFile
  #lastNumber: number
  readonly #buffer = Buffer.allocUnsafeSlow(bufferBytes)

  /** All existing records must be in the data file before the first `append`, which overwrites them. */
  constructor(options: LogOptions) {
    this.#options = options
    this.#lastNumber = options.lastNumber
    const [first, second] = logPaths(options.path)
    this.#active = openFile(first)
    try {
      this.#inactive = openFile(second)
    } catch (error) {
      closeSync(this.#active.descriptor)
      throw error
    }
  }

  /** Resolves when the writes, which follow the revision `before`, are on disk. One call at a time. */
  append(staged: readonly StagedWrite[], before: number): Promise<void> {
    if (this.#inactive.revision <= this.#options.checkpointed()) this.#switchFiles()
    const record = this.#encode(staged, before)
    const file = this.#active
    // The record may be in the file even if the write fails.
    file.revision = staged.at(-1)?.change.revision ?? before
    return new Promise((resolve, reject) => {
      writeWhole(file.descriptor, record.chunks, file.end, (error) => {
        if (error) {
          reject(error)
          return
        }
        file.end += record.bytes
        file.size = Math.max(file.size, file.end)
        resolve()
      })
    })
  }

  /** Truncates the files. All records must be in the data file. */
  clear(): void {
    for (const file of [this.#active, this.#inactive]) {
      file.end = 0
      if (file.size > 0) truncate(file)
    }
  }

  /** `isDone`: all records are in the data file, so the files are truncated. */
  async close(isDone: boolean): Promise<void> {
    for (const { descriptor, size } of [this.#active, this.#inactive]) {
      if (isDone && size > 0) await new Promise<void>((resolve) => ftruncate(descriptor, 0, () => resolve()))
      closeSync(descriptor)
    }
  }

  #switchFiles(): void {
    ;[this.#active, this.#inactive] = [this.#inactive, this.#active]
    const file = this.#active
    file.end = 0
    if (file.size > maxReusedBytes) truncate(file)
  }

  #encode(staged: readonly StagedWrite[], before: number): EncodedRecord {
    let maxBytes = recordHeaderBytes
    for (const { change, row } of staged) maxBytes += writeHeaderBytes + 6 + 3 * change.key.length + (shortValueOf(row)?.length ?? 0)
    const target = maxBytes <= bufferBytes ? this.#buffer : Buffer.allocUnsafe(maxBytes)
    const chunks: Buffer[] = []
    let offset = recordHeaderBytes
    let chunkStart = 0
    let longValueBytes = 0
    for (const write of staged) {
      offset = encodeWrite(write, target, offset)
      const value = write.row?.value
      if (value === undefined || value.length <= maxCopiedBytes) continue
      chunks.push(target.subarray(chunkStart, offset), value)
      chunkStart = offset
      longValueBytes += value.length
    }
    if (chunkStart < offset) chunks.push(target.subarray(chunkStart, offset))
    this.#lastNumber += 1
    target.writeUInt32LE(offset + longValueBytes, 4)
    writeUint48(target, this.#lastNumber, 8)
    writeUint48(target, before, 14)
    let checksum = this.#options.seed
    for (let i = 0; i < chunks.length; i++) checksum = crc32(i === 0 ? (chunks[0] as Buffer).subarray(4) : (chunks[i] as Buffer), checksum)
    target.writeUInt32LE(checksum, 0)
    return { chunks, bytes: offset + longValueBytes }
  }
}

interface EncodedRecord {
  readonly chunks: readonly Buffer[]
  readonly bytes: number
}

const shortValueOf = (row: Row | undefined): Buffer | undefined =>
  row === undefined || row.value.length > maxCopiedBytes ? undefined : row.value

function encodeWrite({ change, position, row }: StagedWrite, target: Buffer, start: number): number {
  const expiresAtMs = row?.expiresAtMs
  let offset = start + writeHeaderBytes
  if (expiresAtMs !== undefined) {
    writeUint48(target, expiresAtMs, offset)
    offset += 6
  }
  const keyBytes = target.write(change.key, offset)
  offset += keyBytes
  const copied = shortValueOf(row)
  if (copied !== undefined) target.set(copied, offset)
  writeUint48(target, change.revision, start)
  target.writeUInt16LE(position, start + 6)
  target[start + 8] = (row ? valueFlag : 0) | (expiresAtMs === undefined ? 0 : expiryFlag)
  target.writeUInt16LE(keyBytes, start + 9)
  target.writeUInt32LE(row?.value.length ?? 0, start + 11)
  return offset + (copied?.length ?? 0)
}

function openFile(path: string): LogFile {
  const descriptor = openSync(path, openFlags, 0o600)
  return { descriptor, end: 0, size: fstatSync(descriptor).size, revision: 0 }
}

function truncate(file: LogFile): void {
  try {
    ftruncateSync(file.descriptor, 0)
    file.size = 0
  } catch {
    // Only space is lost: old records are recognised.
  }
}

function writeWhole(descriptor: number, chunks: readonly Buffer[], position: number, done: (error: Error | null) => void): void {
  const onWritten = (error: Error | null, written: number): void => {
    const unwritten = error ? [] : remainingChunks(chunks, written)
    if (error) done(error)
    else if (unwritten.length > 0) writeWhole(descriptor, unwritten, position + written, done)
    else if (isSyncedByWrite) done(null)
    else fdatasync(descriptor, done)
  }
  const [first] = chunks
  if (first !== undefined && chunks.length === 1) write(descriptor, first, 0, first.length, position, onWritten)
  else writev(descriptor, chunks, position, onWritten)
}

function remainingChunks(chunks: readonly Buffer[], bytes: number): readonly Buffer[] {
  let remaining = bytes
  for (let i = 0; i < chunks.length; i++) {
    const chunk = chunks[i] as Buffer
    if (remaining < chunk.length) return [chunk.subarray(remaining), ...chunks.slice(i + 1)]
    remaining -= chunk.length
  }
  return []
}

export function readLog(path: string, seed: number, after: number): LogContents {
  const records = logPaths(path).flatMap((file) => [...recordsOf(readFile(file), seed)])
  records.sort((a, b) => a.number - b.number)
  let writes: LoggedWrite[] = []
  let revision = after
  for (const record of records) {
    // The data file has whole batches: a record that starts before its revision is in it, or failed.
    if (record.revisionBefore < after) continue
    if (record.revisionBefore > revision) return { writes, lastNumber: records.at(-1)?.number ?? 0, gapUntil: record.revisionBefore }
    // Replaces a batch that was reported as failed.
    writes = writes.filter((write) => write.revision <= record.revisionBefore)
    for (const write of record.writes) writes.push(write)
    revision = record.writes.at(-1)?.revision ?? revision
  }
  return { writes, lastNumber: records.at(-1)?.number ?? 0, gapUntil: undefined }
}

function readFile(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}

/** Records up to the first that is incomplete or older than the one before it. */
function* recordsOf(bytes: Buffer, seed: number): Generator<LogRecord, void, undefined> {
  let lastNumber = 0
  for (let start = 0; start + recordHeaderBytes <= bytes.length; ) {
    const length = bytes.readUInt32LE(start + 4)
    if (length < recordHeaderBytes || start + length > bytes.length) return
    const record = bytes.subarray(start, start + length)
    if (crc32(record.subarray(4), seed) !== record.readUInt32LE(0)) return
    const number = readUint48(record, 8)
    if (number <= lastNumber) return
    lastNumber = number
    yield { number, revisionBefore: readUint48(record, 14), writes: [...writesOf(record)] }
    start += length
  }
}

function* writesOf(record: Buffer): Generator<LoggedWrite, void, undefined> {
  for (let offset = recordHeaderBytes; offset < record.length; ) {
    const flags = record[offset + 8] ?? 0
    const keyStart = offset + writeHeaderBytes + (flags & expiryFlag ? 6 : 0)
    const valueStart = keyStart + record.readUInt16LE(offset + 9)
    const end = valueStart + record.readUInt32LE(offset + 11)
    yield {
      revision: readUint48(record, offset),
      position: record.readUInt16LE(offset + 6),
      key: record.toString('utf8', keyStart, valueStart),
      value: flags & valueFlag ? Buffer.from(record.subarray(valueStart, end)) : undefined,
      expiresAtMs: flags & expiryFlag ? readUint48(record, offset + writeHeaderBytes) : undefined,
    }
    offset = end
  }
}
