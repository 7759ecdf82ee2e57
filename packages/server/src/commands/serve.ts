// Runs the server, or a subcommand (backup, check, ...). The build bundles this file and its imports into one script.

import { stdin, stdout } from 'node:process'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import { adminTokenFile } from '../assemble/admin-kubeconfig.js'
import { assemble } from '../assemble/assemble.js'
import { caFile, pkiFolder } from '../assemble/certificates/serving-certificate.js'
import { startEmbedded } from '../assemble/embedding/start-embedded.js'
import type { EmbeddedServer, RunningServer } from '../assemble/running-server.js'
import { isLoopback } from '../options/advertise-address.js'
import { makePrivateFolder, testkitTokenFile } from '../options/files/private-files.js'
import { FlagError } from '../options/flags/flag.js'
import type { ParsedFlags } from '../options/flags/parse-flags.js'
import { readSettings } from '../options/read-settings.js'
import type { Settings } from '../options/settings.js'
import { explainStartupError } from '../options/startup-error.js'
import { runAdmissionCommand } from './admission-command.js'
import { runCheckCommand } from './check/check-command.js'
import { type CommandProcess, exitCodes } from './command-process.js'
import { runCredentialsCommand } from './credentials-command.js'
import { runEnvtestCommand } from './envtest/envtest-command.js'
import { closeImmediately, logUncaughtErrors, shutDownOnSignal } from './graceful-shutdown.js'
import { createLogger } from './logging/logger.js'
import { shellQuote } from './shell-quote.js'
import type { Subcommand } from './subcommands.js'
import { runTestserver } from './testserver.js'
import { packageVersion } from './version.js'

export async function runSubcommand(command: Subcommand, args: readonly string[], process: CommandProcess): Promise<number> {
  const { print, printError } = process
  switch (command) {
    case 'admission':
      return runAdmissionCommand(args, { print, printError })
    case 'check':
      return runCheckCommand(args, { print, printError })
    case 'credentials':
      return runCredentialsCommand(args, { print, printError, now: () => Date.now() })
    case 'envtest':
      return runEnvtestCommand(args, { print, printError })
    case 'testserver':
      return runTestserver(args, process)
    case 'codec': {
      const { runCodecCommand } = await import('./codec-command.js')
      return runCodecCommand(args, { input: stdin, print: (bytes) => void stdout.write(bytes), printError })
    }
    default: {
      // Loads lmdb, which a server in memory does not need.
      const { runBackupCommand } = await import('./backup/backup-command.js')
      return runBackupCommand(command, args, { print, printError })
    }
  }
}

type StartedServer = RunningServer & Partial<Pick<EmbeddedServer, 'testkit'>>

export interface ServeOptions extends CommandProcess {
  readonly assemble?: (settings: Settings, logger: Logger) => Promise<StartedServer>
}

/** Resolves when the server is ready, or when its start has failed and the error is printed. */
export async function serve(flags: ParsedFlags, options: ServeOptions): Promise<void> {
  try {
    await start(flags, options)
  } catch (error) {
    options.printError(`cluster-apiserver: ${explainStartupError(error)}\n`)
    options.exit(error instanceof FlagError ? exitCodes.invalidCommandLine : exitCodes.failure)
  }
}

async function start(flags: ParsedFlags, options: ServeOptions): Promise<void> {
  const settings = await readSettings(flags)
  const logger = createLogger(settings.logLevel, { fd: 2, format: settings.logFormat })
  const exit = (code: number): void => {
    void logger.close().then(() => options.exit(code))
  }
  const processes = settings.workers > 1 ? await import('./workers/start-workers.js') : undefined
  if (processes?.isOwnWorker() === true) return processes.runWorker(settings, { logger, signals: options.signals, exit })
  if (settings.dataDir !== undefined) makePrivateFolder(settings.dataDir)
  printWarnings(settings, options)
  const startServer = settings.testkit === undefined ? assemble : startEmbedded
  const server: StartedServer = await (processes?.startPrimary ?? options.assemble ?? startServer)(settings, logger)
  logUncaughtErrors(options.signals, logger, () => void closeImmediately(server).then(() => exit(exitCodes.failure)))
  shutDownOnSignal(server, { ...options, exit })
  options.print(renderStartupMessage({ settings, server, version: packageVersion(), elapsedMs: performance.now() }))
}

function printWarnings({ warnings, flagsWithoutEffect }: Settings, { printError }: CommandProcess): void {
  for (const warning of warnings) printError(`cluster-apiserver: ${warning}\n`)
  if (flagsWithoutEffect.length > 0) printError(`cluster-apiserver: flags without effect: ${flagsWithoutEffect.join(', ')}\n`)
}

interface StartupMessage {
  readonly settings: Settings
  readonly server: StartedServer
  readonly version: string
  readonly elapsedMs: number
}

function renderStartupMessage({ settings, server, version, elapsedMs }: StartupMessage): string {
  const { dataDir, storage, etcd } = settings
  const folder = storage === 'memory' ? 'in memory' : `in ${dataDir}`
  const location = etcd === undefined ? folder : `in etcd at ${etcd.addresses.join(', ')} under ${etcd.prefix}, mirrored ${folder}`
  return [
    `cluster-apiserver ${version} listens on ${server.url} (identity ${settings.identity.name}, data ${location}${workersNote(settings)})`,
    ...(isLoopback(settings.bindAddress) ? [] : [exposureNote(settings)]),
    ...(server.clientConfigurationPath === undefined || dataDir === undefined
      ? ['  kubeconfig (not saved to a file):', '', server.clientConfiguration.trimEnd(), '']
      : [`  kubeconfig: ${server.clientConfigurationPath}`, `  try: ${exampleCommand(settings, server, dataDir)}`]),
    ...(server.testkit === undefined ? [] : [`  test kit: ${server.testkit.url}/ (${tokenNote(settings, server.testkit)})`]),
    `ready after ${Math.round(elapsedMs)} ms`,
    '',
  ].join('\n')
}

const workersNote = ({ workers }: Settings): string => (workers === 1 ? '' : `, ${workers} worker processes`)

const exposureNote = ({ bindAddress, anonymousAuth }: Settings): string =>
  `  other machines can connect (--bind-address=${bindAddress}); requests without credentials ${
    anonymousAuth ? 'have the user system:anonymous; use --anonymous-auth=false to reject them' : 'are rejected'
  }`

function tokenNote({ dataDir, flags }: Settings, { token }: NonNullable<EmbeddedServer['testkit']>): string {
  const path = flags.values['testkit-token-file'] ?? (dataDir && testkitTokenFile(dataDir))
  return path === undefined ? `token ${token}, not saved to a file` : `token in ${path}`
}

function exampleCommand(settings: Settings, server: RunningServer, dataDir: string): string {
  const ca = settings.tls.files?.certFile ?? caFile(settings.serving.certDir ?? pkiFolder(dataDir))
  return `curl --cacert ${shellQuote(ca)} -H "Authorization: Bearer $(cat ${shellQuote(adminTokenFile(dataDir))})" ${server.url}/api/v1/namespaces`
}
