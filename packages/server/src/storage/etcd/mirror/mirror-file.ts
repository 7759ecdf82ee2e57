// LMDB file of the local mirror of etcd, without fsync because etcd has the data. Reused if the process restarts, but not the machine.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { isUnchangedSinceShutdown, writeShutdownMarker } from '../../lmdb/clean-shutdown-marker.js'
import { createDiskSpace, type DiskSpace } from '../../lmdb/disk-space.js'
import { findDamage } from '../../lmdb/find-damage.js'
import { type FolderLock, lockFolder } from '../../lmdb/folder-lock.js'
import { Snapshot } from '../../lmdb/snapshot.js'
import { fileBytes, openTables, type Tables } from '../../lmdb/tables.js'
import { StorageRefusedError, StorageUnavailableError } from '../../storage.js'

interface MirrorFileOptions {
  /** Default: a temporary folder that is removed at close. */
  readonly folder?: string
  /** Identifies the mirrored data: a file of another source is deleted. */
  readonly source: string
  readonly logger: Logger
}

interface MirrorFileParts {
  readonly path: string
  /** Source and boot id, stored in the file. */
  readonly origin: string
  readonly lock: FolderLock
  readonly tables: Tables
  readonly removeFolder: () => void
}

const fileName = 'mirror.mdb'

export class MirrorFile {
  readonly #path: string
  readonly #origin: string
  readonly #lock: FolderLock
  readonly #space: DiskSpace
  readonly #removeFolder: () => void
  #tables: Tables
  #snapshot: Snapshot | undefined

  private constructor(parts: MirrorFileParts) {
    this.#path = parts.path
    this.#origin = parts.origin
    this.#lock = parts.lock
    this.#removeFolder = parts.removeFolder
    this.#space = createDiskSpace(parts.path)
    this.#tables = parts.tables
    this.#snapshot = new Snapshot(parts.tables)
  }

  /** Rejects with StorageRefusedError for a folder that cannot be used. */
  static async open({ folder, source, logger }: MirrorFileOptions): Promise<MirrorFile> {
    const usedFolder = folder ?? mkdtempSync(join(tmpdir(), 'cluster-mirror-'))
    const removeFolder = (): void => void (folder === undefined && rmSync(usedFolder, { recursive: true, force: true }))
    const path = join(usedFolder, fileName)
    const origin = `${source} ${bootId()}`
    const lock = lockMirrorFolder(usedFolder)
    try {
      const tables = (await openExisting(path, origin, logger)) ?? create(path, origin)
      return new MirrorFile({ path, origin, lock, removeFolder, tables })
    } catch (error) {
      await lock.release()
      removeFolder()
      throw error
    }
  }

  get snapshot(): Snapshot {
    if (!this.#snapshot) throw new StorageUnavailableError('the mirror is closed')
    return this.#snapshot
  }

  /** Writes synchronously, as one transaction; reads show it after the snapshot was renewed. */
  write(maxNewBytes: number, work: (tables: Tables) => void): void {
    this.#space.ensure(maxNewBytes, () => fileBytes(this.#tables))
    this.#tables.root.transactionSync(() => work(this.#tables))
  }

  async recreate(): Promise<void> {
    this.#snapshot?.close()
    await this.#tables.root.close()
    this.#tables = create(this.#path, this.#origin)
    this.#snapshot = new Snapshot(this.#tables)
  }

  async close(): Promise<void> {
    this.#snapshot?.close()
    this.#snapshot = undefined
    await this.#tables.root.close()
    writeShutdownMarker(this.#path)
    await this.#lock.release()
    this.#removeFolder()
  }
}

function lockMirrorFolder(folder: string): FolderLock {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof StorageRefusedError) throw error
    const reason = errorMessage(error)
    throw new StorageRefusedError(`the folder ${folder} cannot be used for the mirror of etcd, ${reason}`)
  }
}

async function openExisting(path: string, origin: string, logger: Logger): Promise<Tables | undefined> {
  if (!existsSync(path)) return undefined
  const damage = findDamage(path, { isTrusted: isUnchangedSinceShutdown(path) })
  const tables = damage === undefined ? openTables({ path, create: false, noSync: true }) : undefined
  const transaction = tables?.root.useReadTransaction()
  const foundOrigin = transaction && tables?.meta.get('mark', { transaction })?.toString()
  transaction?.done()
  if (tables && foundOrigin === origin) return tables
  await tables?.root.close()
  logger.info({ file: path, error: damage }, 'local mirror is unusable; rebuilding it')
  return undefined
}

function create(path: string, origin: string): Tables {
  for (const stale of [path, `${path}-lock`]) rmSync(stale, { force: true })
  const tables = openTables({ path, create: true, noSync: true })
  if (!tables) throw new StorageUnavailableError('the tables of the mirror could not be made')
  for (const file of [path, `${path}-lock`]) chmodSync(file, 0o600)
  tables.root.transactionSync(() => tables.meta.put('mark', Buffer.from(origin)))
  return tables
}

/** Changes with every boot of the machine; if the system has no boot id, with every start of the process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return `${process.pid}.${performance.timeOrigin}`
  }
}
