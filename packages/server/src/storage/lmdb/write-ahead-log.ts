// The write-ahead log of the embedded engine: a batch of commits is durable once its record is here, which takes one small write to the disk
// where a transaction of LMDB takes several pages and two syncs. What the log holds is brought into the data file by and by (lmdb-checkpoints).
//
// There are two files, written in turn: each is begun anew once everything in it is in the data file. Records that are older stay behind the
// new ones until they are overwritten. A reader tells them apart by their numbers, which only grow.
//
//   record:  checksum 4 · length 4 · number 6 · revision before it 6 · its writes
//   write:   revision 6 · position 2 · flags 1 (1: has a value, 2: has an expiry) · key length 2 · value length 4 · [expiry 6] · key · value
//
// The checksum begins with a number that the data file knows and no client, so that neither the log of another file nor what a client stored
// passes for a record. A record of a batch that was reported as failed may be found whole; the next one begins at the same revision
// then, and takes its place.

import { closeSync, constants, fdatasync, fstatSync, ftruncate, ftruncateSync, openSync, readFileSync, write, writev } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { Row, StagedWrite } from './commit-batch.js'
import { readUint48, writeUint48 } from './lmdb-records.js'

/** A write as the log has it: what was before it is for the reader to find. */
export interface LoggedWrite {
  readonly revision: number
  readonly position: number
  readonly key: string
  readonly value: Buffer | undefined
  readonly expiresAtMs: number | undefined
}

export interface LogContents {
  /** Those after the revision that was asked for, in order. */
  readonly writes: readonly LoggedWrite[]
  /** The greatest of all records, old ones included. */
  readonly lastNumber: number
  /** Where the writes after the revision begin, when that is not right behind it: what lies between is lost. */
  readonly gapUntil: number | undefined
}

interface LogRecord {
  readonly number: number
  readonly before: number
  readonly writes: readonly LoggedWrite[]
}

interface LogFile {
  readonly descriptor: number
  /** Where the next record goes. */
  end: number
  /** How long the file is, with what is left of older records. */
  size: number
  /** The newest revision in it. */
  revision: number
}

const recordHeader = 20
const writeHeader = 15
const hasValue = 1
const hasExpiry = 2
const usualBytes = 1 << 18
/** A longer value is written from where it lies. Shorter ones are copied: each piece of a write has its price. */
const longValue = 8 << 10
/** A file that has grown beyond this is cut when it is begun anew. */
const mostKeptBytes = 4 << 20

export const logPaths = (path: string): readonly [string, string] => [`${path}.log-0`, `${path}.log-1`]

/** Elsewhere a write that is to be synced does not reach the disk itself. */
const isSyncedByWrite = process.platform === 'linux'
const openFlags = constants.O_RDWR | constants.O_CREAT | (isSyncedByWrite ? constants.O_DSYNC : 0)

export interface LogOptions {
  /** Of the data file. */
  readonly path: string
  readonly seed: number
  /** That of the newest record. */
  readonly lastNumber: number
  /** Up to which revision everything is in the data file. */
  readonly checkpointed: () => number
}

export class WriteAheadLog {
  readonly #options: LogOptions
  #active: LogFile
  #other: LogFile
  #number: number
  readonly #usual = Buffer.allocUnsafeSlow(usualBytes)

  /** Everything that the files hold must be in the data file. */
  constructor(options: LogOptions) {
    this.#options = options
    this.#number = options.lastNumber
    const [first, second] = logPaths(options.path)
    this.#active = openFile(first)
    try {
      this.#other = openFile(second)
    } catch (error) {
      closeSync(this.#active.descriptor)
      throw error
    }
  }

  /** Resolves when the writes, which follow the revision `before`, are on the disk. One call at a time. */
  append(staged: readonly StagedWrite[], before: number): Promise<void> {
    if (this.#other.revision <= this.#options.checkpointed()) this.#turn()
    const record = this.#encode(staged, before)
    const file = this.#active
    // From now on it may be in the file, also when the write fails.
    file.revision = staged.at(-1)?.change.revision ?? before
    return new Promise((resolve, reject) => {
      writeWhole(file.descriptor, record.pieces, file.end, (error) => {
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

  /** Everything must be in the data file: gives the room of the files back. */
  clear(): void {
    for (const file of [this.#active, this.#other]) {
      file.end = 0
      if (file.size > 0) cut(file)
    }
  }

  /** Where everything is in the data file there is nothing to read at the next start. */
  async close(isDone: boolean): Promise<void> {
    for (const { descriptor, size } of [this.#active, this.#other]) {
      if (isDone && size > 0) await new Promise<void>((resolve) => ftruncate(descriptor, 0, () => resolve()))
      closeSync(descriptor)
    }
  }

  #turn(): void {
    ;[this.#active, this.#other] = [this.#other, this.#active]
    const file = this.#active
    file.end = 0
    if (file.size > mostKeptBytes) cut(file)
  }

  #encode(staged: readonly StagedWrite[], before: number): EncodedRecord {
    let mostBytes = recordHeader
    for (const { change, row } of staged) mostBytes += writeHeader + 6 + 3 * change.key.length + (copiedOf(row)?.length ?? 0)
    const target = mostBytes <= usualBytes ? this.#usual : Buffer.allocUnsafe(mostBytes)
    const pieces: Buffer[] = []
    let at = recordHeader
    let pieceStart = 0
    let longBytes = 0
    for (const write of staged) {
      at = encodeWrite(write, target, at)
      const value = write.row?.value
      if (value === undefined || value.length <= longValue) continue
      pieces.push(target.subarray(pieceStart, at), value)
      pieceStart = at
      longBytes += value.length
    }
    if (pieceStart < at) pieces.push(target.subarray(pieceStart, at))
    this.#number += 1
    target.writeUInt32LE(at + longBytes, 4)
    writeUint48(target, this.#number, 8)
    writeUint48(target, before, 14)
    let checksum = this.#options.seed
    for (let i = 0; i < pieces.length; i++) checksum = crc32(i === 0 ? (pieces[0] as Buffer).subarray(4) : (pieces[i] as Buffer), checksum)
    target.writeUInt32LE(checksum, 0)
    return { pieces, bytes: at + longBytes }
  }
}

/** A record as it is handed to the system. */
interface EncodedRecord {
  readonly pieces: readonly Buffer[]
  readonly bytes: number
}

/** The value of a row, where it is copied. */
const copiedOf = (row: Row | undefined): Buffer | undefined => (row === undefined || row.value.length > longValue ? undefined : row.value)

/** Writes all of it but for a long value, which follows. */
function encodeWrite({ change, position, row }: StagedWrite, target: Buffer, start: number): number {
  const expiresAtMs = row?.expiresAtMs
  let at = start + writeHeader
  if (expiresAtMs !== undefined) {
    writeUint48(target, expiresAtMs, at)
    at += 6
  }
  const keyBytes = target.write(change.key, at)
  at += keyBytes
  const copied = copiedOf(row)
  if (copied !== undefined) target.set(copied, at)
  writeUint48(target, change.revision, start)
  target.writeUInt16LE(position, start + 6)
  target[start + 8] = (row ? hasValue : 0) | (expiresAtMs === undefined ? 0 : hasExpiry)
  target.writeUInt16LE(keyBytes, start + 9)
  target.writeUInt32LE(row?.value.length ?? 0, start + 11)
  return at + (copied?.length ?? 0)
}

function openFile(path: string): LogFile {
  const descriptor = openSync(path, openFlags, 0o600)
  return { descriptor, end: 0, size: fstatSync(descriptor).size, revision: 0 }
}

function cut(file: LogFile): void {
  try {
    ftruncateSync(file.descriptor, 0)
    file.size = 0
  } catch {
    // It takes more room than it must, and that is all: old records are known by their revisions.
  }
}

/** The system may take less than it is given. */
function writeWhole(descriptor: number, pieces: readonly Buffer[], position: number, done: (error: Error | null) => void): void {
  const goOn = (error: Error | null, written: number): void => {
    const left = error ? [] : behind(pieces, written)
    if (error) done(error)
    else if (left.length > 0) writeWhole(descriptor, left, position + written, done)
    else if (isSyncedByWrite) done(null)
    else fdatasync(descriptor, done)
  }
  const [first] = pieces
  if (first !== undefined && pieces.length === 1) write(descriptor, first, 0, first.length, position, goOn)
  else writev(descriptor, pieces, position, goOn)
}

/** What is left of the pieces behind so many bytes. */
function behind(pieces: readonly Buffer[], bytes: number): readonly Buffer[] {
  let left = bytes
  for (let i = 0; i < pieces.length; i++) {
    const piece = pieces[i] as Buffer
    if (left < piece.length) return [piece.subarray(left), ...pieces.slice(i + 1)]
    left -= piece.length
  }
  return []
}

/** What the files beside a data file hold beyond its newest revision. */
export function readLog(path: string, seed: number, after: number): LogContents {
  const records = logPaths(path).flatMap((file) => [...recordsOf(readFile(file), seed)])
  records.sort((a, b) => a.number - b.number)
  let writes: LoggedWrite[] = []
  let revision = after
  for (const record of records) {
    // The data file has whole batches only: what begins before its end is in it, or failed.
    if (record.before < after) continue
    if (record.before > revision) return { writes, lastNumber: records.at(-1)?.number ?? 0, gapUntil: record.before }
    // What a batch that failed has left there is not what was decided afterwards.
    writes = writes.filter((write) => write.revision <= record.before)
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

/** Up to the first that is not whole, or is older than the one before it. */
function* recordsOf(bytes: Buffer, seed: number): Generator<LogRecord, void, undefined> {
  let lastNumber = 0
  for (let start = 0; start + recordHeader <= bytes.length; ) {
    const length = bytes.readUInt32LE(start + 4)
    if (length < recordHeader || start + length > bytes.length) return
    const record = bytes.subarray(start, start + length)
    if (crc32(record.subarray(4), seed) !== record.readUInt32LE(0)) return
    const number = readUint48(record, 8)
    if (number <= lastNumber) return
    lastNumber = number
    yield { number, before: readUint48(record, 14), writes: [...writesOf(record)] }
    start += length
  }
}

function* writesOf(record: Buffer): Generator<LoggedWrite, void, undefined> {
  for (let at = recordHeader; at < record.length; ) {
    const flags = record[at + 8] ?? 0
    const keyStart = at + writeHeader + (flags & hasExpiry ? 6 : 0)
    const valueStart = keyStart + record.readUInt16LE(at + 9)
    const end = valueStart + record.readUInt32LE(at + 11)
    yield {
      revision: readUint48(record, at),
      position: record.readUInt16LE(at + 6),
      key: record.toString('utf8', keyStart, valueStart),
      value: flags & hasValue ? Buffer.from(record.subarray(valueStart, end)) : undefined,
      expiresAtMs: flags & hasExpiry ? readUint48(record, at + writeHeader) : undefined,
    }
    at = end
  }
}
