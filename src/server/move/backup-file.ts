// A backup: one file with everything in it, that can tell whether it is whole.
//
//   the line `cluster-apiserver backup 2` · a line of JSON about the source
//   for each entry: length of the key 4 · length of the value 4 · revision 6 · expiry 6 (0: none) · key · value
//   length 0 4 · a line of JSON with the count, and the SHA-256 of all bytes before it

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../private-files.js'
import { type MovedEntry, MoveError, type MoveSource, type MoveSummary, type MoveTarget, type TargetOptions } from './moved-entry.js'

const title = 'cluster-apiserver backup 2\n'
/** Those before had entries of an older format in them. */
const olderTitle = 'cluster-apiserver backup 1\n'
const entryHeaderBytes = 20
const readAheadBytes = 1 << 20
const pageBytes = 1 << 20
/** Far beyond what any store takes: lengths that are greater are not lengths, and nobody makes room for them. */
const mostKeyBytes = 1 << 16
const mostValueBytes = 1 << 29

/** Throws when the file is there already. */
export async function createBackupFile(path: string, { mark, revision }: TargetOptions): Promise<MoveTarget> {
  if (existsSync(path)) throw new MoveError(`${path} is there already: choose another name, or move it away`)
  const draft = `${path}.partial`
  const file = await open(draft, 'w', 0o600)
  const target = new BackupTarget(path, draft, file)
  await target.begin({ mark, revision, createdAt: new Date().toISOString() })
  return target
}

interface BackupHeader {
  readonly mark: string
  readonly revision: number
  readonly createdAt: string
}

class BackupTarget implements MoveTarget {
  readonly #path: string
  readonly #draft: string
  readonly #file: FileHandle
  readonly #hash = createHash('sha256')

  constructor(path: string, draft: string, file: FileHandle) {
    this.#path = path
    this.#draft = draft
    this.#file = file
  }

  async begin(header: BackupHeader): Promise<void> {
    await this.#append(Buffer.from(`${title}${JSON.stringify(header)}\n`))
  }

  async write(page: readonly MovedEntry[]): Promise<void> {
    await this.#append(Buffer.concat(page.flatMap(encodeEntry)))
  }

  async finish({ count }: MoveSummary): Promise<void> {
    await this.#append(Buffer.alloc(4))
    await this.#file.appendFile(`${JSON.stringify({ count, sha256: this.#hash.digest('hex') })}\n`)
    await this.#file.sync()
    await this.#file.close()
    await rename(this.#draft, this.#path)
    await syncFolder(dirname(this.#path))
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => undefined)
    await rm(this.#draft, { force: true })
  }

  readBack(): Promise<MoveSource> {
    return openBackupFile(this.#path)
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes)
    // All of it: a write alone may take less than it was given.
    await this.#file.appendFile(bytes)
  }
}

function encodeEntry({ key, revision, value, expiresAtMs }: MovedEntry): readonly Buffer[] {
  const keyBytes = Buffer.from(key)
  const header = Buffer.allocUnsafe(entryHeaderBytes)
  header.writeUInt32BE(keyBytes.length, 0)
  header.writeUInt32BE(value.length, 4)
  header.writeUIntBE(revision, 8, 6)
  header.writeUIntBE(expiresAtMs ?? 0, 14, 6)
  return [header, keyBytes, value]
}

/** Throws MoveError for what is no backup; whether it is whole shows when its pages are read to the end. */
export async function openBackupFile(path: string): Promise<MoveSource> {
  const file = await open(path, 'r').catch((error: Error) => {
    throw new MoveError(`the backup cannot be read: ${error.message}`)
  })
  try {
    const header = await readHeader(new BackupReader(file, path), path)
    return new BackupSource(path, file, header)
  } catch (error) {
    await file.close()
    throw error
  }
}

async function readHeader(reader: BackupReader, path: string): Promise<BackupHeader> {
  const found = (await reader.take(title.length).catch(() => undefined))?.toString()
  if (found !== title && found !== olderTitle)
    throw new MoveError(`${path} is no backup of this server, or one that this version does not know`)
  return parseHeader((await reader.line()).toString(), path)
}

function parseHeader(text: string, path: string): BackupHeader {
  try {
    const header = JSON.parse(text) as Partial<BackupHeader> | null
    if (typeof header?.mark === 'string' && Number.isSafeInteger(header.revision)) return header as BackupHeader
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new MoveError(`the backup ${path} is damaged: its second line does not say what it is of`)
}

class BackupSource implements MoveSource {
  readonly mark: string
  readonly revision: number
  readonly #path: string
  readonly #file: FileHandle

  constructor(path: string, file: FileHandle, { mark, revision }: BackupHeader) {
    this.#path = path
    this.#file = file
    this.mark = mark
    this.revision = revision
  }

  async *pages(): AsyncGenerator<readonly MovedEntry[], void, undefined> {
    const reader = new BackupReader(this.#file, this.#path)
    await readHeader(reader, this.#path)
    let count = 0
    let page: MovedEntry[] = []
    let bytes = 0
    for (let entry = await reader.entry(); entry; entry = await reader.entry()) {
      page.push(entry)
      count += 1
      bytes += entry.value.length
      if (bytes < pageBytes && page.length < 1000) continue
      yield page
      page = []
      bytes = 0
    }
    await reader.checkEnd(count)
    if (page.length > 0) yield page
  }

  async checkUnchanged(): Promise<void> {}

  async close(): Promise<void> {
    await this.#file.close()
  }
}

/** Reads a backup from its beginning, and computes the checksum of what was read on the way. */
class BackupReader {
  readonly #file: FileHandle
  readonly #path: string
  readonly #hash = createHash('sha256')
  #ahead: Buffer = Buffer.alloc(0)
  #position = 0

  constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  async take(bytes: number): Promise<Buffer> {
    await this.#fill(bytes)
    if (this.#ahead.length < bytes) throw new MoveError(`the backup ${this.#path} ends in the middle`)
    const taken = this.#ahead.subarray(0, bytes)
    this.#ahead = this.#ahead.subarray(bytes)
    this.#hash.update(taken)
    return taken
  }

  async line(): Promise<Buffer> {
    for (let wanted = readAheadBytes; ; wanted *= 2) {
      await this.#fill(wanted)
      const end = this.#ahead.indexOf('\n')
      if (end >= 0) return this.take(end + 1)
      if (this.#ahead.length < wanted) throw new MoveError(`the backup ${this.#path} ends in the middle`)
    }
  }

  /** Undefined at the end. */
  async entry(): Promise<MovedEntry | undefined> {
    const keyBytes = (await this.take(4)).readUInt32BE(0)
    if (keyBytes === 0) return undefined
    const header = await this.take(entryHeaderBytes - 4)
    if (keyBytes > mostKeyBytes || header.readUInt32BE(0) > mostValueBytes)
      throw new MoveError(`the backup ${this.#path} is damaged: an entry is longer than any that is stored`)
    const expiresAtMs = header.readUIntBE(10, 6)
    const key = (await this.take(keyBytes)).toString()
    const value = Buffer.from(await this.take(header.readUInt32BE(0)))
    return { key, revision: header.readUIntBE(4, 6), value, expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs }
  }

  async checkEnd(count: number): Promise<void> {
    const computed = this.#hash.digest('hex')
    await this.#fill(readAheadBytes)
    const { count: wanted, sha256 } = parseFooter(this.#ahead)
    if (count !== wanted || computed !== sha256) {
      throw new MoveError(
        `the backup ${this.#path} is damaged: ${count} objects of ${wanted}, its checksum is ${computed} and not ${sha256}`,
      )
    }
  }

  async #fill(bytes: number): Promise<void> {
    while (this.#ahead.length < bytes) {
      const chunk = Buffer.allocUnsafe(Math.max(readAheadBytes, bytes - this.#ahead.length))
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, this.#position)
      if (bytesRead === 0) return
      this.#position += bytesRead
      this.#ahead = Buffer.concat([this.#ahead, chunk.subarray(0, bytesRead)])
    }
  }
}

function parseFooter(bytes: Buffer): { readonly count?: number; readonly sha256?: string } {
  try {
    return JSON.parse(bytes.toString()) as { count?: number; sha256?: string }
  } catch {
    return {}
  }
}
