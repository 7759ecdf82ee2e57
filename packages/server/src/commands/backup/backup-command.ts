// The commands backup, restore and migrate: copy a whole store, and verify the copy.

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type IdentityName, identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { systemClock } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { upgradeFor } from '../../assemble/open-storage.js'
import { serversRange } from '../../objects/server-registry.js'
import { BackupError, type CopiedEntry, type CopySource, type CopyTarget, type TargetOptions } from '../../storage/backup/copied-entry.js'
import { openBackupFile } from '../../storage/backup/read-backup-file.js'
import { StorageRefusedError, StorageUnavailableError } from '../../storage/storage.js'
import { type CommandOutput, runCommand, stackOf } from '../command-process.js'
import type { BackupCommand } from '../subcommands.js'
import { createBackupFile } from './backup-file.js'
import { copyStore, type Progress, summarize } from './copy-store.js'
import { connectEtcd, openEtcdSource } from './etcd-source.js'
import { openEtcdTarget } from './etcd-target.js'
import { openLmdbSource } from './lmdb-source.js'
import { openLmdbTarget } from './lmdb-target.js'

const usage = `usage: cluster-apiserver backup  --from=<store> --to=<file>
       cluster-apiserver restore --from=<file>  --to=<store>
       cluster-apiserver migrate --from=<store> --to=<store>

A store is the --data-dir of a server, or etcd endpoints: https://10.0.0.1:2379,https://10.0.0.2:2379
(with a user: https://name:password@10.0.0.1:2379). A backup can be made while servers run; for restore and migrate,
stop all servers that use the stores. Existing data is never overwritten.

  --etcd-prefix=/registry   prefix of all keys in etcd
  --etcd-cafile=<file>      CA of the etcd certificates
  --etcd-certfile=<file>    client certificate for etcd
  --etcd-keyfile=<file>     private key of the client certificate

Exit codes: 0 success, 1 failure, 2 invalid command line.
`

/** Added to the revision of a restored store, so that revisions assigned after the backup are not reused. */
const restoreRevisionGap = 1_000_000_000
const reportEveryMs = 1000

export function runBackupCommand(command: BackupCommand, args: readonly string[], output: CommandOutput): Promise<number> {
  const run = (settings: BackupSettings): Promise<undefined> => runCopy(command, settings, output)
  return runCommand({ name: command, usage, read: readArguments, run, explain }, args, output)
}

interface BackupSettings {
  readonly from: string
  readonly to: string
  readonly prefix: string
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string }
}

function readArguments(args: readonly string[]): BackupSettings {
  const stringOption = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: stringOption,
      to: stringOption,
      'etcd-prefix': stringOption,
      'etcd-cafile': stringOption,
      'etcd-certfile': stringOption,
      'etcd-keyfile': stringOption,
    },
  })
  const { from, to } = values
  if (from === undefined || from === '') throw new Error('--from is missing')
  if (to === undefined || to === '') throw new Error('--to is missing')
  const tls = { caFile: values['etcd-cafile'], certFile: values['etcd-certfile'], keyFile: values['etcd-keyfile'] }
  const tlsFiles = Object.fromEntries(Object.entries(tls).filter(([, file]) => file !== undefined))
  return { from, to, prefix: values['etcd-prefix'] ?? '/registry', tls: tlsFiles }
}

async function runCopy(command: BackupCommand, settings: BackupSettings, output: CommandOutput): Promise<undefined> {
  const report = createReporter(command, output)
  const source = withoutExpired(upgradedSource(await openSource(command, settings, output)), systemClock.now())
  try {
    // Verify the backup before anything is written.
    if (command === 'restore') await summarize(source, report)
    const target = await openTarget(command, settings, output, {
      identityName: source.identityName,
      revision: source.revision + (command === 'restore' ? restoreRevisionGap : 0),
    })
    const { count, bytes, checksum } = await copyStore({ source, target, report })
    output.print(`${command}: ${count} objects, ${megabytes(bytes)}, checksum ${checksum}\n`)
  } finally {
    await source.close()
  }
}

function openSource(command: BackupCommand, settings: BackupSettings, output: CommandOutput): Promise<CopySource> {
  const { from } = settings
  if (command === 'restore') return openBackupFile(from)
  const exclusive = command === 'migrate'
  if (isEtcdUrl(from)) return openEtcdSource(etcdLocation(from, settings, output), exclusive)
  return openLmdbSource({ folder: storeFolder(from), exclusive })
}

function openTarget(command: BackupCommand, settings: BackupSettings, output: CommandOutput, options: TargetOptions): Promise<CopyTarget> {
  const { to } = settings
  if (command === 'backup') return createBackupFile(to, options)
  return isEtcdUrl(to) ? openEtcdTarget(etcdLocation(to, settings, output), options) : openLmdbTarget(storeFolder(to), options)
}

const isEtcdUrl = (location: string): boolean => /^https?:\/\//.test(location)

/** Folder of the embedded store in --data-dir. */
const storeFolder = (dataDir: string): string => join(dataDir, 'store')

function etcdLocation(addresses: string, { prefix, tls }: BackupSettings, { printError }: CommandOutput) {
  const printWarning = (_: unknown, message: string): void => printError(`${message}\n`)
  const ignore = (): void => undefined
  const logger: Logger = { debug: ignore, info: ignore, warn: printWarning, error: printWarning }
  return connectEtcd({ urls: addresses.split(','), prefix, tls, logger })
}

function createReporter(command: BackupCommand, { printError }: CommandOutput): (progress: Progress) => void {
  let nextMs = performance.now() + reportEveryMs
  return ({ step, count, bytes }) => {
    if (performance.now() < nextMs) return
    nextMs = performance.now() + reportEveryMs
    printError(`${command}: ${step}, ${count} objects, ${megabytes(bytes)}\n`)
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

/** Expected errors, and errors with a code (of the system or etcd), are printed without a stack. */
function explain(thrown: unknown): string {
  const isExpected =
    thrown instanceof BackupError ||
    thrown instanceof StorageRefusedError ||
    thrown instanceof StorageUnavailableError ||
    (thrown instanceof Error && 'code' in thrown)
  return isExpected ? thrown.message : stackOf(thrown)
}

type Pages = AsyncIterable<readonly CopiedEntry[]>

const withPages = (source: CopySource, convert: (pages: Pages) => Pages): CopySource => ({
  identityName: source.identityName,
  revision: source.revision,
  pages: () => convert(source.pages()),
  checkUnchanged: () => source.checkUnchanged(),
  close: () => source.close(),
})

/** Drops server registrations, and expired entries: an etcd target gives each entry a minimum lifetime, so they would reappear. */
function withoutExpired(source: CopySource, nowMs: number): CopySource {
  const isKept = ({ key, expiresAtMs }: CopiedEntry): boolean =>
    !key.startsWith(serversRange.start) && (expiresAtMs === undefined || expiresAtMs > nowMs)
  return withPages(source, async function* (pages) {
    for await (const page of pages) {
      const kept = page.filter(isKept)
      if (kept.length > 0) yield kept
    }
  })
}

/** Converts entries of an older storage format, and keeps the key order. */
function upgradedSource(source: CopySource): CopySource {
  if (!identityNames.includes(source.identityName as IdentityName)) return source
  const { upgradeKey, upgradeValue } = upgradeFor(identityOf(source.identityName as IdentityName))
  return withPages(source, async function* (pages) {
    /** Entries whose new key sorts after the keys of later entries: at most one address and some ports per service. */
    const moved: CopiedEntry[] = []
    for await (const page of pages) {
      const out: CopiedEntry[] = []
      for (const entry of page) {
        const key = upgradeKey(entry.key)
        const upgraded = { ...entry, key, value: upgradeValue(entry.key, entry.value) }
        if (key !== entry.key) {
          moved.push(upgraded)
          continue
        }
        const nextMoved = moved.findIndex((other) => compareText(other.key, key) > 0)
        out.push(...moved.splice(0, nextMoved < 0 ? moved.length : nextMoved), upgraded)
      }
      if (out.length > 0) yield out
    }
    if (moved.length > 0) yield moved
  })
}
