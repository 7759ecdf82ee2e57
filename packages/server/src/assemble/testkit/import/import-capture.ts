// Imports a captured cluster into rows of a memory storage: a folder of manifests, a List, an etcd snapshot or a backup.

import { randomUUID } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { Time } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import { serviceRangesOf } from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import { format0Versions } from '../../../objects/entry/format-0-versions.js'
import { entryUpgrade } from '../../../objects/entry/upgrade-entries.js'
import { serversRange } from '../../../objects/server-registry.js'
import { listManifests } from '../../../options/files/manifest-files.js'
import type { Settings } from '../../../options/settings.js'
import { StartupError } from '../../../options/startup-error.js'
import { BackupError } from '../../../storage/backup/copied-entry.js'
import { openBackupFile } from '../../../storage/backup/read-backup-file.js'
import type { InitialRow, InitialRows } from '../../../storage/memory/memory-storage.js'
import { isEncrypted } from '../../../storage/storage.js'
import { serviceReservers } from '../../../verbs/reserve/service-ips-and-ports.js'
import { BoltError, boltHeadBytes, isBoltDatabase, type RandomAccess } from './bolt-database.js'
import { type Capture, refuse } from './captured-object.js'
import { readEtcdSnapshot } from './etcd-snapshot.js'
import { type ImportContext, type Imported, importObjects } from './import-objects.js'
import { readEtcdObjects } from './read-etcd-objects.js'
import { readManifests } from './read-manifests.js'

interface StartParts {
  readonly settings: Settings
  readonly logger: Logger
  readonly catalog: Catalog
  readonly time: Time
}

export async function importInitialRows(from: string, { settings, logger, catalog, time }: StartParts): Promise<InitialRows> {
  const { storage, encryption, network, gates, eventTtlSeconds } = settings
  if (storage !== 'memory') throw new StartupError('from: only a server in memory can import a captured cluster')
  if (encryption !== undefined) throw new StartupError('from: --encryption-provider-config cannot be combined with an import')
  const reservers = serviceReservers(serviceRangesOf(network), Math.random)
  const context = { catalog, gates, now: time.steady.now(), eventTtlSeconds, reservers, newUid: randomUUID }
  const { warnings, ...initial } = await importCapture(from, context)
  for (const warning of warnings) logger.warn({ from }, `import: ${warning}`)
  return initial
}

/** Rejects with a StartupError if the capture cannot be read. */
export async function importCapture(path: string, context: ImportContext): Promise<Imported> {
  try {
    if (statSync(path).isDirectory()) return await importObjects(filled(path, await readFolder(path)), context)
    switch (formatOf(path)) {
      case 'backup':
        return await importBackup(path, context)
      case 'etcd':
        return await importObjects(filled(path, await readEtcd(path, context.catalog.identity)), context)
      case 'text':
        return await importObjects(filled(path, readManifests(path, readText(path))), context)
    }
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown
    if (thrown instanceof BoltError || thrown instanceof BackupError) throw refuse(path, thrown.message)
    if ('code' in thrown && 'syscall' in thrown) throw refuse(path, `cannot be read: ${thrown.message}`)
    throw thrown
  }
}

/** An empty capture is a mistake, such as the output of a kubectl that failed. */
function filled(path: string, capture: Capture): Capture {
  if (capture.objects.length === 0) throw refuse(path, 'it has no objects')
  return capture
}

async function readFolder(folder: string): Promise<Capture> {
  const files = listManifests(folder)
  if (files.length === 0) throw refuse(folder, 'the folder has no file that ends in .yaml, .yml or .json')
  const captures: Capture[] = []
  for (const file of files) {
    captures.push(readManifests(file, readText(file)))
    await turnBudget.yieldIfSpent()
  }
  return {
    objects: captures.flatMap(({ objects }) => objects),
    revision: captures.reduce((highest, { revision }) => Math.max(highest, revision), 0),
    warnings: [],
  }
}

/** Recognizes a file by its first bytes. */
function formatOf(path: string): 'backup' | 'etcd' | 'text' {
  return withFile(path, ({ size, read }) => {
    const head = read(0, Math.min(size, boltHeadBytes))
    if (head.subarray(0, backupStart.length).equals(backupStart)) return 'backup'
    if (isBoltDatabase(head)) return 'etcd'
    if (!head.includes(0)) return 'text'
    throw refuse(path, 'expected YAML or JSON, an etcd snapshot, or a backup of this server')
  })
}

const backupStart = Buffer.from('cluster-apiserver backup ')
/** Maximum length of a string in V8. */
const maxTextBytes = (1 << 29) - 25

const readText = (path: string): Buffer =>
  withFile(path, ({ size, read }) => {
    if (size > maxTextBytes) throw refuse(path, `the file has ${size} bytes, the limit is ${maxTextBytes}: split it into a folder of files`)
    return read(0, size)
  })

/** Snapshots up to this size are read into memory at once; page by page takes twice as long. */
const maxWholeBytes = 1 << 30

const inMemory = (bytes: Buffer): RandomAccess => ({
  size: bytes.length,
  read: (offset, length) => bytes.subarray(offset, offset + length),
})

async function readEtcd(path: string, identity: Identity): Promise<Capture> {
  const file = openFile(path)
  try {
    const pages = file.size <= maxWholeBytes ? inMemory(file.read(0, file.size)) : file
    return await inSteps(readEtcdObjects(path, await inSteps(readEtcdSnapshot(pages)), identity))
  } finally {
    file.close()
  }
}

async function inSteps<T>(steps: Generator<undefined, T, void>): Promise<T> {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
    await turnBudget.yieldIfSpent()
  }
}

/** Rows of a backup are entries of this server already. */
async function importBackup(path: string, { catalog: { identity }, now }: ImportContext): Promise<Imported> {
  const source = await openBackupFile(path)
  try {
    if (source.identityName !== identity.name)
      throw refuse(path, `the backup has the names of the identity "${source.identityName}": start with identity ${source.identityName}`)
    const { upgradeKey, upgradeValue } = entryUpgrade(format0Versions(identity))
    const rows: InitialRow[] = []
    for await (const page of source.pages()) {
      for (const { key, value, revision, expiresAtMs } of page) {
        if (key.startsWith(serversRange.start) || (expiresAtMs !== undefined && expiresAtMs <= now)) continue
        if (isEncrypted(value))
          throw refuse(path, `${key} is encrypted at rest: restore the backup to a data folder, and start a server with its keys`)
        rows.push({ key: upgradeKey(key), value: upgradeValue(key, value), revision, expiresAtMs })
      }
    }
    return { rows, revision: rows.reduce((highest, row) => Math.max(highest, row.revision), source.revision), warnings: [] }
  } finally {
    await source.close()
  }
}

interface OpenFile extends RandomAccess {
  close(): void
}

function openFile(path: string): OpenFile {
  // O_NONBLOCK: do not wait for the writer of a pipe.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const stat = fstatSync(file)
  if (!stat.isFile()) {
    closeSync(file)
    throw refuse(path, 'not a regular file')
  }
  const read = (offset: number, length: number): Buffer => {
    const bytes = Buffer.allocUnsafeSlow(length)
    for (let done = 0; done < length; ) {
      const count = readSync(file, bytes, done, length - done, offset + done)
      if (count === 0) throw refuse(path, `the file ends at byte ${offset + done}, while it is read`)
      done += count
    }
    return bytes
  }
  return { size: stat.size, read, close: () => closeSync(file) }
}

function withFile<T>(path: string, work: (file: RandomAccess) => T): T {
  const file = openFile(path)
  try {
    return work(file)
  } finally {
    file.close()
  }
}
