// Takes possession of a data folder: refuses what is not ours or not whole before anything in it is touched, and makes a new one.

import { randomInt } from 'node:crypto'
import { chmodSync, close, closeSync, existsSync, fsync, mkdirSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { closedNotePath, isAsClosed } from './closed-note.js'
import { type FolderLock, lockFileName, lockFolder, ownerNoteName } from './folder-lock.js'
import { findDamage } from './lmdb-damage.js'
import { numberBytes } from './lmdb-records.js'
import { openTables, type Tables } from './lmdb-tables.js'
import { StorageRefusedError } from './storage.js'
import { logPaths } from './write-ahead-log.js'

const dataFileName = 'data.mdb'
const formatVersion = '4'
/** Without a log; everything else is as it is now. */
const formatWithoutLog = '3'
/** With older entries, which are upgraded. */
const formatOfOldEntries = '2'

export const isKnownFormat = (format: string): boolean => [formatVersion, formatWithoutLog, formatOfOldEntries].includes(format)

export interface DataFolder {
  readonly path: string
  readonly lock: FolderLock
  readonly tables: Tables
}

export interface FolderOptions {
  readonly folder: string
  /** Whose data this is; a folder with another mark is refused. */
  readonly mark: string
}

export async function takeFolder(options: FolderOptions): Promise<DataFolder> {
  const { folder } = options
  const { lock, grown } = refusingSystemErrors(folder, () => {
    const parents = makeFolder(resolve(folder))
    checkContents(folder)
    return { lock: lockFolder(folder), grown: parents }
  })
  try {
    const synced = Promise.allSettled(grown.map(syncFile))
    const path = join(folder, dataFileName)
    refusingSystemErrors(folder, () => removeLeftovers(folder))
    if (!existsSync(path)) await createDataFile(path, options)
    const [lost] = (await synced).filter((outcome) => outcome.status === 'rejected')
    if (lost !== undefined) throw refusedBySystem(folder, lost.reason)
    return { path, lock, tables: refusingSystemErrors(folder, () => openChecked(path, options)) }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** A name for a file that becomes the data file when it is complete. */
export function draftPath(path: string): string {
  return `${path}.draft`
}

/** For a draft that is written by others, who do not ask who may read it. */
export function privateFolder(path: string): string {
  return `${path}.copy`
}

/** Puts a complete draft in the data file's place, durably. */
export async function promoteDraft(path: string): Promise<void> {
  const syncFolder = await renameDraft(path)
  await syncFolder()
}

/**
 * Puts a complete draft in the data file's place. What fails has changed nothing of the data; once this resolves there is no way back, and the new file is
 * there to stay when the function that it answers with has resolved, which can be called once.
 */
export async function renameDraft(path: string): Promise<() => Promise<void>> {
  for (const file of [draftPath(path), `${draftPath(path)}-lock`]) chmodSync(file, 0o600)
  await syncFile(draftPath(path))
  // Opened before, so that a lack of descriptors comes while nothing has happened.
  const folder = openSync(dirname(path), 'r')
  try {
    // Who reads the file in another process, such as a backup, enters himself there: whoever has the draft open must see that.
    renameSync(`${draftPath(path)}-lock`, `${path}-lock`)
    renameSync(draftPath(path), path)
  } catch (error) {
    closeSync(folder)
    throw error
  }
  return () => syncAndClose(folder)
}

/** The names in the folder of the data file. */
export const syncFolderOf = (path: string): Promise<void> => syncFile(dirname(path))

/**
 * Not the recursive option of mkdir: below a folder such as /proc, where nothing can be made, that one never returns. Answers with the folders
 * that have a new one in them, which are to be synced.
 */
function makeFolder(folder: string): readonly string[] {
  if (existsSync(folder)) return []
  const parent = dirname(folder)
  const grown = makeFolder(parent)
  // Secrets are among the data.
  mkdirSync(folder, { mode: 0o700 })
  return [...grown, parent]
}

function checkContents(folder: string): void {
  const names = readdirSync(folder)
  if (names.includes(dataFileName)) return
  const foreign = names.find((name) => !isOurs(name) && name !== 'lost+found')
  if (foreign === undefined) return
  throw new StorageRefusedError(`the folder ${folder} holds no data of this server but ${foreign}: choose an empty folder for the data`)
}

function isOurs(name: string): boolean {
  const names = [
    dataFileName,
    lockFileName,
    ownerNoteName,
    draftPath(dataFileName),
    privateFolder(dataFileName),
    closedNotePath(dataFileName),
    ...logPaths(dataFileName),
  ]
  return names.some((ours) => name === ours || name === `${ours}-lock`)
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

function openChecked(path: string, { folder, mark }: FolderOptions): Tables {
  const damage = findDamage(path, { isTrusted: isAsClosed(path) })
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
  if (tables && foundMark === mark && format !== undefined && isKnownFormat(format)) return takeOver(tables, format)
  void tables?.root.close()
  throw new StorageRefusedError(strangerMessage({ folder, mark, format, foundMark }))
}

/** From now on the server that wrote it refuses the folder. */
function takeOver(tables: Tables, format: string): Tables {
  tables.root.transactionSync(() => {
    tables.meta.put('format', Buffer.from(formatVersion))
    tables.meta.put('log', newLogSeed())
    if (format === formatOfOldEntries) tables.meta.put('upgrading', Buffer.from(format))
  })
  return tables
}

const newLogSeed = (): Buffer => numberBytes(randomInt(2 ** 32))

/** Empty ones: their names last when the folder has been synced. */
function createLog(path: string): void {
  for (const file of logPaths(path)) closeSync(openSync(file, 'a', 0o600))
}

function strangerMessage(found: FolderOptions & { format: string | undefined; foundMark: string | undefined }): string {
  const { folder, mark, format, foundMark } = found
  if (format === undefined) return `the data file in ${folder} is not one of this server: choose another folder`
  if (format !== formatVersion) {
    const age = Number(format) > Number(formatVersion) ? 'a newer format than this server knows' : 'a format that this server does not know'
    return `the data folder ${folder} has ${age} (${format}, not ${formatVersion}): use the version of the server that wrote it`
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
  const reason = error instanceof Error ? error.message : String(error)
  if ((error as NodeJS.ErrnoException).code === 'ENOSPC')
    return new StorageRefusedError(`the data folder ${folder} cannot be used, the disk is full: make room and start again`)
  return new StorageRefusedError(`the data folder ${folder} cannot be used, ${reason}: make it a writable folder or choose another`)
}

/** Beside the event loop: it may take as long as everything else that a start does. */
async function syncFile(path: string): Promise<void> {
  await syncAndClose(openSync(path, 'r'))
}

function syncAndClose(file: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fsync(file, (failed) => close(file, (unclosed) => (failed || unclosed ? reject(failed ?? unclosed) : resolve())))
  })
}
