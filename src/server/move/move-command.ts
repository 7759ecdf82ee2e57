// `cluster-apiserver backup`, `restore` and `migrate`: everything that is stored, from one place to another, counted and checked.

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../../base/clock.js'
import type { Logger } from '../../base/logger.js'
import { StorageRefusedError, StorageUnavailableError } from '../../storage/storage.js'
import { createBackupFile, openBackupFile } from './backup-file.js'
import { reachEtcd } from './etcd-place.js'
import { openEtcdSource } from './etcd-source.js'
import { openEtcdTarget } from './etcd-target.js'
import { livingSource } from './living-source.js'
import { openLmdbSource } from './lmdb-source.js'
import { openLmdbTarget } from './lmdb-target.js'
import { move, type Progress, summarize } from './move.js'
import type { MoveCommand } from './move-commands.js'
import { MoveError, type MoveSource, type MoveTarget, type TargetOptions } from './moved-entry.js'
import { upgradedSource } from './upgraded-source.js'

/** What the commands touch outside of themselves. */
export interface MoveSurroundings {
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
}

const usage = `usage: cluster-apiserver backup  --from=<store> --to=<file>
       cluster-apiserver restore --from=<file>  --to=<store>
       cluster-apiserver migrate --from=<store> --to=<store>

A store is the --data-dir of a server, or the addresses of an etcd: https://10.0.0.1:2379,https://10.0.0.2:2379
(with a user, if etcd asks for one: https://name:password@10.0.0.1:2379). A backup may be made while servers go on; for the others,
servers must be stopped. Nothing that exists is overwritten.

  --etcd-prefix=/registry   beginning of every key in etcd
  --etcd-cafile=<file>      authority that signed the certificates of etcd
  --etcd-certfile=<file>    client certificate for etcd
  --etcd-keyfile=<file>     key of the client certificate
`

/** So far above the backup's revisions a restored store begins that it uses none again that was used after the backup was made. */
const restoreDistance = 1_000_000_000
const reportEveryMs = 1000

/** Answers the exit code: 0, 1 where it cannot be done, 2 where the command line is wrong. */
export async function runMoveCommand(command: MoveCommand, args: readonly string[], surroundings: MoveSurroundings): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    surroundings.print(usage)
    return 0
  }
  const settings = readArguments(args)
  if (typeof settings === 'string') {
    surroundings.complain(`cluster-apiserver ${command}: ${settings}\n\n${usage}`)
    return 2
  }
  try {
    await runMove(command, settings, surroundings)
    return 0
  } catch (error) {
    if (!(error instanceof Error)) throw error
    surroundings.complain(`cluster-apiserver ${command}: ${isExplained(error) ? error.message : (error.stack ?? error.message)}\n`)
    return 1
  }
}

interface MoveSettings {
  readonly from: string
  readonly to: string
  readonly prefix: string
  readonly tls: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string }
}

/** Or what is wrong with them. */
function readArguments(args: readonly string[]): MoveSettings | string {
  const text = { type: 'string' } as const
  try {
    const { values } = parseArgs({
      args: [...args],
      options: { from: text, to: text, 'etcd-prefix': text, 'etcd-cafile': text, 'etcd-certfile': text, 'etcd-keyfile': text },
    })
    const { from, to } = values
    if (from === undefined || from === '') return '--from is missing'
    if (to === undefined || to === '') return '--to is missing'
    const tls = { caFile: values['etcd-cafile'], certFile: values['etcd-certfile'], keyFile: values['etcd-keyfile'] }
    const given = Object.fromEntries(Object.entries(tls).filter(([, file]) => file !== undefined))
    return { from, to, prefix: values['etcd-prefix'] ?? '/registry', tls: given }
  } catch (error) {
    return (error as Error).message
  }
}

async function runMove(command: MoveCommand, settings: MoveSettings, surroundings: MoveSurroundings): Promise<void> {
  const report = createReporter(command, surroundings)
  const source = livingSource(upgradedSource(await openSource(command, settings, surroundings)), systemClock.now())
  try {
    // A damaged backup shows before anything is written.
    if (command === 'restore') await summarize(source, report)
    const target = await openTarget(command, settings, surroundings, {
      mark: source.mark,
      revision: source.revision + (command === 'restore' ? restoreDistance : 0),
    })
    const { count, bytes, checksum } = await move({ source, target, report })
    surroundings.print(`${command}: ${count} objects, ${megabytes(bytes)}, checksum ${checksum}\n`)
  } finally {
    await source.close()
  }
}

function openSource(command: MoveCommand, settings: MoveSettings, surroundings: MoveSurroundings): Promise<MoveSource> {
  const { from } = settings
  if (command === 'restore') return openBackupFile(from)
  const exclusive = command === 'migrate'
  if (isEtcd(from)) return openEtcdSource(placeOf(from, settings, surroundings), exclusive)
  return openLmdbSource({ folder: storeFolder(from), exclusive })
}

function openTarget(
  command: MoveCommand,
  settings: MoveSettings,
  surroundings: MoveSurroundings,
  options: TargetOptions,
): Promise<MoveTarget> {
  const { to } = settings
  if (command === 'backup') return createBackupFile(to, options)
  return isEtcd(to) ? openEtcdTarget(placeOf(to, settings, surroundings), options) : openLmdbTarget(storeFolder(to), options)
}

const isEtcd = (place: string): boolean => /^https?:\/\//.test(place)

/** Where the server keeps the embedded store in its --data-dir. */
const storeFolder = (dataDir: string): string => join(dataDir, 'store')

function placeOf(addresses: string, { prefix, tls }: MoveSettings, { complain }: MoveSurroundings) {
  const say = (_: unknown, message: string): void => complain(`${message}\n`)
  const ignore = (): void => undefined
  const logger: Logger = { debug: ignore, info: ignore, warn: say, error: say }
  return reachEtcd({ urls: addresses.split(','), prefix, tls, logger })
}

function createReporter(command: MoveCommand, { complain }: MoveSurroundings): (progress: Progress) => void {
  let nextMs = performance.now() + reportEveryMs
  return ({ step, count, bytes }) => {
    if (performance.now() < nextMs) return
    nextMs = performance.now() + reportEveryMs
    complain(`${command}: ${step}, ${count} objects, ${megabytes(bytes)}\n`)
  }
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}

/** Errors of the system and of etcd have a code, and say enough. */
function isExplained(error: Error): boolean {
  return error instanceof MoveError || error instanceof StorageRefusedError || error instanceof StorageUnavailableError || 'code' in error
}
