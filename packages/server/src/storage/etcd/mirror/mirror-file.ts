// The file behind a mirror: an LMDB file that is not synced, because what it holds can be had again from where it came. It is used again after
// the end of its process, but not after that of the machine, and never for another source.

import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Logger } from '../base/logger.js'
import { isAsClosed, noteClosed } from './closed-note.js'
import { createDiskSpace, type DiskSpace } from './disk-space.js'
import { type FolderLock, lockFolder } from './folder-lock.js'
import { findDamage } from './lmdb-damage.js'
import { Snapshot } from './lmdb-snapshot.js'
import { fileBytes, openTables, type Tables } from './lmdb-tables.js'
import { StorageRefusedError, StorageUnavailableError } from './storage.js'

export interface MirrorFileOptions {
  /** Left out: a folder of its own that is removed at the end. */
  readonly folder?: string
  /** What is mirrored: a file that mirrors something else is thrown away. */
  readonly source: string
  readonly logger: Logger
}

interface MirrorFileParts {
  readonly path: string
  readonly mark: string
  readonly lock: FolderLock
  readonly tables: Tables
  readonly remove: () => void
}

const fileName = 'mirror.mdb'

export class MirrorFile {
  readonly #path: string
  readonly #mark: string
  readonly #lock: FolderLock
  readonly #space: DiskSpace
  readonly #remove: () => void
  #tables: Tables
  #snapshot: Snapshot | undefined

  private constructor(parts: MirrorFileParts) {
    this.#path = parts.path
    this.#mark = parts.mark
    this.#lock = parts.lock
    this.#remove = parts.remove
    this.#space = createDiskSpace(parts.path)
    this.#tables = parts.tables
    this.#snapshot = new Snapshot(parts.tables)
  }

  /** Rejects with StorageRefusedError for a folder that cannot be used. */
  static async open({ folder, source, logger }: MirrorFileOptions): Promise<MirrorFile> {
    const place = folder ?? mkdtempSync(join(tmpdir(), 'cluster-mirror-'))
    const remove = (): void => void (folder === undefined && rmSync(place, { recursive: true, force: true }))
    const path = join(place, fileName)
    const mark = `${source} ${bootId()}`
    const lock = takeFolder(place)
    try {
      const tables = (await openExisting(path, mark, logger)) ?? create(path, mark)
      return new MirrorFile({ path, mark, lock, remove, tables })
    } catch (error) {
      await lock.release()
      remove()
      throw error
    }
  }

  get snapshot(): Snapshot {
    if (!this.#snapshot) throw new StorageUnavailableError('the mirror is closed')
    return this.#snapshot
  }

  /** Writes at once, as one transaction; the snapshot shows it after having been renewed. */
  write(mostNewBytes: number, work: (tables: Tables) => void): void {
    this.#space.ensure(mostNewBytes, () => fileBytes(this.#tables))
    this.#tables.root.transactionSync(() => work(this.#tables))
  }

  /** Forgets everything. */
  async startAnew(): Promise<void> {
    this.#snapshot?.close()
    await this.#tables.root.close()
    this.#tables = create(this.#path, this.#mark)
    this.#snapshot = new Snapshot(this.#tables)
  }

  async close(): Promise<void> {
    this.#snapshot?.close()
    this.#snapshot = undefined
    await this.#tables.root.close()
    noteClosed(this.#path)
    await this.#lock.release()
    this.#remove()
  }
}

function takeFolder(folder: string): FolderLock {
  try {
    if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 })
    return lockFolder(folder)
  } catch (error) {
    if (error instanceof StorageRefusedError) throw error
    const reason = error instanceof Error ? error.message : String(error)
    throw new StorageRefusedError(`the folder ${folder} cannot be used for the mirror of etcd, ${reason}`)
  }
}

async function openExisting(path: string, mark: string, logger: Logger): Promise<Tables | undefined> {
  if (!existsSync(path)) return undefined
  const damage = findDamage(path, { isTrusted: isAsClosed(path) })
  const tables = damage === undefined ? openTables({ path, create: false, noSync: true }) : undefined
  const transaction = tables?.root.useReadTransaction()
  const found = transaction && tables?.meta.get('mark', { transaction })?.toString()
  transaction?.done()
  if (tables && found === mark) return tables
  await tables?.root.close()
  logger.info({ path, damage }, 'local mirror is unusable; rebuilding it')
  return undefined
}

function create(path: string, mark: string): Tables {
  for (const stale of [path, `${path}-lock`]) rmSync(stale, { force: true })
  const tables = openTables({ path, create: true, noSync: true })
  if (!tables) throw new StorageUnavailableError('the tables of the mirror could not be made')
  for (const file of [path, `${path}-lock`]) chmodSync(file, 0o600)
  tables.root.transactionSync(() => tables.meta.put('mark', Buffer.from(mark)))
  return tables
}

/** Another one after every start of the machine; where the system does not tell, after every start of the process. */
function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return `${process.pid}.${performance.timeOrigin}`
  }
}
