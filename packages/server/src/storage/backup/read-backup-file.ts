// Reads a backup file and verifies its checksum. Format, with lengths in bytes:
//   line `cluster-apiserver backup 2` · JSON line with identity and revision of the source
//   for each entry: key length 4 · value length 4 · revision 6 · expiry 6 (0: none) · key · value
//   zero 4 · JSON line with the count, and the SHA-256 of all previous bytes

import { createHash } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { BackupError, type CopiedEntry, type CopySource } from './copied-entry.js'

export const backupMagic = 'cluster-apiserver backup 2\n'
/** First line of backups of older versions, which are still read. */
const olderMagic = 'cluster-apiserver backup 1\n'
export const entryHeaderBytes = 20
const readAheadBytes = 1 << 20
const pageBytes = 1 << 20
/** Greater lengths are invalid; no memory is allocated for them. */
const maxKeyBytes = 1 << 16
const maxValueBytes = 1 << 29

export interface BackupHeader {
  /** `--identity` of the server that wrote the data. */
  readonly mark: string
  readonly revision: number
  readonly createdAt: string
}

/** Throws a BackupError if the file is not a backup. Damage is found when its pages are read. */
export async function openBackupFile(path: string): Promise<CopySource> {
  const file = await open(path, 'r').catch((error: Error) => {
    throw new BackupError(`cannot read the backup: ${error.message}`)
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
  const found = (await reader.read(backupMagic.length).catch(() => undefined))?.toString()
  if (found !== backupMagic && found !== olderMagic)
    throw new BackupError(`${path} is not a backup of this server, or needs a newer version`)
  return parseHeader((await reader.line()).toString(), path)
}

function parseHeader(text: string, path: string): BackupHeader {
  try {
    const header = JSON.parse(text) as Partial<BackupHeader> | null
    if (typeof header?.mark === 'string' && Number.isSafeInteger(header.revision)) return header as BackupHeader
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw new BackupError(`the backup ${path} is damaged: its header is invalid`)
}

class BackupSource implements CopySource {
  readonly identityName: string
  readonly revision: number
  readonly #path: string
  readonly #file: FileHandle

  constructor(path: string, file: FileHandle, { mark, revision }: BackupHeader) {
    this.#path = path
    this.#file = file
    this.identityName = mark
    this.revision = revision
  }

  async *pages(): AsyncGenerator<readonly CopiedEntry[], void, undefined> {
    const reader = new BackupReader(this.#file, this.#path)
    await readHeader(reader, this.#path)
    let count = 0
    let page: CopiedEntry[] = []
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

  async read(bytes: number): Promise<Buffer> {
    await this.#fill(bytes)
    if (this.#ahead.length < bytes) throw new BackupError(`the backup ${this.#path} is truncated`)
    const result = this.#ahead.subarray(0, bytes)
    this.#ahead = this.#ahead.subarray(bytes)
    this.#hash.update(result)
    return result
  }

  async line(): Promise<Buffer> {
    await this.#fill(readAheadBytes)
    const end = this.#ahead.indexOf('\n')
    if (end < 0) throw new BackupError(`the backup ${this.#path} is truncated`)
    return this.read(end + 1)
  }

  async entry(): Promise<CopiedEntry | undefined> {
    const keyBytes = (await this.read(4)).readUInt32BE(0)
    if (keyBytes === 0) return undefined
    const header = await this.read(entryHeaderBytes - 4)
    if (keyBytes > maxKeyBytes || header.readUInt32BE(0) > maxValueBytes)
      throw new BackupError(`the backup ${this.#path} is damaged: the length of an entry is invalid`)
    const expiresAtMs = header.readUIntBE(10, 6)
    const key = (await this.read(keyBytes)).toString()
    const value = Buffer.from(await this.read(header.readUInt32BE(0)))
    return { key, revision: header.readUIntBE(4, 6), value, expiresAtMs: expiresAtMs === 0 ? undefined : expiresAtMs }
  }

  async checkEnd(count: number): Promise<void> {
    const computed = this.#hash.digest('hex')
    await this.#fill(readAheadBytes)
    const { count: wanted, sha256 } = parseFooter(this.#ahead)
    if (count !== wanted || computed !== sha256) {
      throw new BackupError(`the backup ${this.#path} is damaged: ${count} of ${wanted} objects, checksum ${computed}, expected ${sha256}`)
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
