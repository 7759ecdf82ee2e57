// Opens or creates a data folder. Refuses a foreign or damaged folder without changing its data.

import { randomInt } from 'node:crypto'
import { chmodSync, close, closeSync, existsSync, fsync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { StorageRefusedError } from '../storage.js'
import { isUnchangedSinceShutdown, shutdownMarkerPath } from './clean-shutdown-marker.js'
import { findDamage } from './find-damage.js'
import { type FolderLock, lockFileName, lockFolder, ownerFileName } from './folder-lock.js'
import { numberBytes } from './record-encoding.js'
import { openTables, type Tables } from './tables.js'
import { logPaths } from './write-ahead-log.js'

const dataFileName = 'data.mdb'
const formatVersion = '4'
const formatWithoutLog = '3'
/** Format with older entries, which are upgraded. */
const formatOfOldEntries = '2'

export const isKnownFormat = (format: string): boolean => [formatVersion, formatWithoutLog, formatOfOldEntries].includes(format)

export interface DataFolder {
  readonly path: string
  readonly lock: FolderLock
  readonly tables: Tables
}

interface FolderOptions {
  readonly folder: string
  /** Name of the identity that owns the data: a folder with another mark is refused. */
  readonly mark: string
}

export async function openDataFolder(options: FolderOptions): Promise<DataFolder> {
  const { folder } = options
  const { lock, changedFolders } = refusingSystemErrors(folder, () => {
    const parents = createFolder(resolve(folder))
    checkContents(folder)
    return { lock: lockFolder(folder), changedFolders: parents }
  })
  try {
    const synced = Promise.allSettled(changedFolders.map(syncFile))
    const path = join(folder, dataFileName)
    refusingSystemErrors(folder, () => removeLeftovers(folder))
    if (!existsSync(path)) await createDataFile(path, options)
    const [failed] = (await synced).filter((outcome) => outcome.status === 'rejected')
    if (failed !== undefined) throw refusedBySystem(folder, failed.reason)
    return { path, lock, tables: refusingSystemErrors(folder, () => checkAndOpen(path, options)) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** Path of a new data file until it is complete. */
export function draftPath(path: string): string {
  return `${path}.draft`
}

/** Folder in which the lmdb package writes a copy: it creates files that everybody can read. */
export function privateFolder(path: string): string {
  return `${path}.copy`
}

async function promoteDraft(path: string): Promise<void> {
  const syncFolder = await renameDraft(path)
  await syncFolder()
}

/** Renames a complete draft to the data file; durable when the returned function resolves. */
export async function renameDraft(path: string): Promise<() => Promise<void>> {
  for (const file of [draftPath(path), `${draftPath(path)}-lock`]) chmodSync(file, 0o600)
  await syncFile(draftPath(path))
  // Opened first, so that a lack of descriptors fails before the rename.
  const folder = openSync(dirname(path), 'r')
  try {
    // Readers in other processes, such as a backup, register in the lock file: it must be the draft's.
    renameSync(`${draftPath(path)}-lock`, `${path}-lock`)
    renameSync(draftPath(path), path)
  } catch (error) {
    closeSync(folder)
    throw error
  }
  return () => syncAndClose(folder)
}

export const syncFolderOf = (path: string): Promise<void> => syncFile(dirname(path))

/** Returns the folders with a new entry, which must be synced. Recursive mkdir never returns below a folder such as /proc. */
function createFolder(folder: string): readonly string[] {
  if (existsSync(folder)) return []
  const parent = dirname(folder)
  const changedFolders = createFolder(parent)
  // Secrets are among the data.
  mkdirSync(folder, { mode: 0o700 })
  return [...changedFolders, parent]
}

function checkContents(folder: string): void {
  const names = readdirSync(folder)
  if (names.includes(dataFileName)) return
  const foreign = names.find((name) => !isDataFolderFile(name) && name !== 'lost+found')
  if (foreign === undefined) return
  throw new StorageRefusedError(`the folder ${folder} holds no data of this server but ${foreign}: choose an empty folder for the data`)
}

function isDataFolderFile(name: string): boolean {
  const names = [
    dataFileName,
    lockFileName,
    ownerFileName,
    draftPath(dataFileName),
    privateFolder(dataFileName),
    shutdownMarkerPath(dataFileName),
    ...logPaths(dataFileName),
  ]
  return names.some((knownName) => name === knownName || name === `${knownName}-lock`)
}

function removeLeftovers(folder: string): void {
  const draft = draftPath(join(folder, dataFileName))
  for (const path of [draft, `${draft}-lock`]) rmSync(path, { force: true })
  rmSync(privateFolder(join(folder, dataFileName)), { recursive: true, force: true })
}

async function createDataFile(path: string, { folder, mark }: FolderOptions): Promise<void> {
  try {
    // Synced once, when it is complete.
    const tables = openTables({ path: draftPath(path), create: true, noSync: true })
    await tables?.root.batch(() => {
      tables.meta.put('format', Buffer.from(formatVersion))
      tables.meta.put('mark', Buffer.from(mark))
      tables.meta.put('revision', numberBytes(1))
      tables.meta.put('compacted', numberBytes(0))
      tables.meta.put('log', newLogSeed())
    })
    await tables?.root.close()
    createLog(path)
    await promoteDraft(path)
  } catch (error) {
    throw refusedBySystem(folder, error)
  }
}

function checkAndOpen(path: string, { folder, mark }: FolderOptions): Tables {
  const damage = findDamage(path, { isTrusted: isUnchangedSinceShutdown(path) })
  if (damage !== undefined) {
    throw new StorageRefusedError(`the data file ${path} is damaged, ${damage}: restore the folder from a backup or choose an empty one`)
  }
  const tables = openTables({ path, create: false })
  const transaction = tables?.root.useReadTransaction()
  const read = (key: string): string | undefined => transaction && tables?.meta.get(key, { transaction })?.toString()
  const format = read('format')
  const foundMark = read('mark')
  transaction?.done()
  if (tables && foundMark === mark && format === formatVersion) return tables
  if (tables && foundMark === mark && format !== undefined && isKnownFormat(format)) return startUpgrade(tables, format)
  void tables?.root.close()
  throw new StorageRefusedError(refusalMessage({ folder, mark, format, foundMark }))
}

/** From now on older servers refuse the folder. */
function startUpgrade(tables: Tables, format: string): Tables {
  tables.root.transactionSync(() => {
    tables.meta.put('format', Buffer.from(formatVersion))
    tables.meta.put('log', newLogSeed())
    if (format === formatOfOldEntries) tables.meta.put('upgrading', Buffer.from(format))
  })
  return tables
}

const newLogSeed = (): Buffer => numberBytes(randomInt(2 ** 32))

/** Creates empty log files; the caller syncs the folder. */
function createLog(path: string): void {
  for (const file of logPaths(path)) closeSync(openSync(file, 'a', 0o600))
}

function refusalMessage(found: FolderOptions & { format: string | undefined; foundMark: string | undefined }): string {
  const { folder, mark, format, foundMark } = found
  if (format === undefined) return `the data file in ${folder} is not one of this server: choose another folder`
  if (format !== formatVersion) {
    const formatText =
      Number(format) > Number(formatVersion) ? 'a newer format than this server knows' : 'a format that this server does not know'
    return `the data folder ${folder} has ${formatText} (${format}, not ${formatVersion}): use the version of the server that wrote it`
  }
  return `the data folder ${folder} belongs to '${foundMark}', not to '${mark}': start the server as it was started before, or choose another folder`
}

function refusingSystemErrors<T>(folder: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw refusedBySystem(folder, error)
  }
}

export function refusedBySystem(folder: string, error: unknown): StorageRefusedError {
  if (error instanceof StorageRefusedError) return error
  const reason = errorMessage(error)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new StorageRefusedError(`the data folder ${folder} cannot be used, the disk is full: free disk space and start again`)
  return new StorageRefusedError(`the data folder ${folder} cannot be used, ${reason}: make it a writable folder or choose another`)
}

async function syncFile(path: string): Promise<void> {
  await syncAndClose(openSync(path, 'r'))
}

function syncAndClose(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(file, (syncError) => close(file, (closeError) => (syncError || closeError ? reject(syncError ?? closeError) : resolve())))
  })
}
