// Writes a backup file. storage/backup/read-backup-file describes its format.

import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncFolder } from '../../options/files/private-files.js'
import {
  BackupError,
  type CopiedEntry,
  type CopySource,
  type CopySummary,
  type CopyTarget,
  type TargetOptions,
} from '../../storage/backup/copied-entry.js'
import { type BackupHeader, backupMagic, entryHeaderBytes, openBackupFile } from '../../storage/backup/read-backup-file.js'

export async function createBackupFile(path: string, { identityName, revision }: TargetOptions): Promise<CopyTarget> {
  if (existsSync(path)) throw new BackupError(`${path} exists already; choose another name or remove it`)
  const draft = `${path}.partial`
  const file = await open(draft, 'w', 0o600)
  const target = new BackupTarget(path, draft, file)
  await target.writeHeader({ mark: identityName, revision, createdAt: new Date().toISOString() })
  return target
}

class BackupTarget implements CopyTarget {
  readonly #path: string
  readonly #draft: string
  readonly #file: FileHandle
  readonly #hash = createHash('sha256')

  constructor(path: string, draft: string, file: FileHandle) {
    this.#path = path
    this.#draft = draft
    this.#file = file
  }

  async writeHeader(header: BackupHeader): Promise<void> {
    await this.#append(Buffer.from(`${backupMagic}${JSON.stringify(header)}\n`))
  }

  async write(page: readonly CopiedEntry[]): Promise<void> {
    await this.#append(Buffer.concat(page.flatMap(encodeEntry)))
  }

  async finish({ count }: CopySummary): Promise<void> {
    await this.#append(Buffer.alloc(4))
    await this.#file.appendFile(`${JSON.stringify({ count, sha256: this.#hash.digest('hex') })}\n`)
    await this.#file.sync()
    await this.#file.close()
    await rename(this.#draft, this.#path)
    syncFolder(dirname(this.#path))
  }

  async abandon(): Promise<void> {
    await this.#file.close().catch(() => undefined)
    await rm(this.#draft, { force: true })
  }

  readBack(): Promise<CopySource> {
    return openBackupFile(this.#path)
  }

  async #append(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes)
    // Not `write`, which may write fewer bytes than given.
    await this.#file.appendFile(bytes)
  }
}

function encodeEntry({ key, revision, value, expiresAtMs }: CopiedEntry): readonly Buffer[] {
  const keyBytes = Buffer.from(key)
  const header = Buffer.allocUnsafe(entryHeaderBytes)
  header.writeUInt32BE(keyBytes.length, 0)
  header.writeUInt32BE(value.length, 4)
  header.writeUIntBE(revision, 8, 6)
  header.writeUIntBE(expiresAtMs ?? 0, 14, 6)
  return [header, keyBytes, value]
}
