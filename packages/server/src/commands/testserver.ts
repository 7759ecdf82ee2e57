// The command testserver: a disposable server in memory with a test kit, which ends with its parent process.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../assemble/embedding/start-embedded.js'
import type { EmbeddedServer } from '../assemble/running-server.js'
import { writePrivateFile } from '../options/files/private-files.js'
import { FlagError, flagError } from '../options/flags/flag.js'
import type { FlagName } from '../options/flags/flag-table.js'
import { parseFlags } from '../options/flags/parse-flags.js'
import { readSettings } from '../options/read-settings.js'
import { explainStartupError } from '../options/startup-error.js'
import { type CommandProcess, exitCodes } from './command-process.js'
import { closeImmediately, logUncaughtErrors } from './graceful-shutdown.js'
import { createLogger } from './logging/logger.js'

const usage = `usage: cluster-apiserver testserver [--from=<path>] [--flag=value]…

Runs a disposable server for tests: in memory, on a free port of 127.0.0.1, with the test kit under /testkit/. When it is ready, it prints one
line of JSON:

  url         address of the API
  ca          certificate of its CA, as PEM
  token       bearer token of the administrator
  kubeconfig  path of the administrator's kubeconfig, in a temporary folder
  testkit     url and token of the control API: faults, clock, request log, history, snapshots (docs/testkit/control-api.md)
  pid         process id of the server

The server ends with its parent process, and at SIGTERM, SIGINT or SIGHUP; its temporary folder is then removed. Warnings and errors go to stderr.

  cluster-apiserver testserver --identity=kubernetes | head -n 1

  --from=<path>   begins with a captured cluster: a folder or file of YAML or JSON, an etcd snapshot, or a backup

All flags of the server are accepted (cluster-apiserver --help), except storage flags.

Exit codes: 0 ended by a signal, 1 failure or end of the parent, 2 invalid command line.
`

const defaultFlags = ['--secure-port=0', '--bind-address=127.0.0.1']
const fixedFlags = ['--storage-backend=memory', '--testkit']

/** Flags without a meaning for a server that keeps nothing. */
const refusedFlags: readonly FlagName[] = ['data-dir', 'storage-backend', 'etcd-servers', 'version']

/** Resolves with the exit code when the server has ended. */
export async function runTestserver(args: readonly string[], commandProcess: CommandProcess): Promise<number> {
  const { print, printError } = commandProcess
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    print(usage)
    return exitCodes.success
  }
  try {
    return await serveUntilEnd(args, commandProcess)
  } catch (error) {
    printError(`cluster-apiserver testserver: ${explainStartupError(error)}\n`)
    return error instanceof FlagError ? exitCodes.invalidCommandLine : exitCodes.failure
  }
}

async function serveUntilEnd(args: readonly string[], { print, printError, signals }: CommandProcess): Promise<number> {
  // Listens for the end before the start, which may take longer than the life of the parent.
  const ended = new Promise<number>((resolve) => {
    onParentEnd(() => resolve(exitCodes.failure))
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) signals.on(signal, () => resolve(exitCodes.success))
  })
  const { from, flags } = splitArgs(args)
  const given = parseFlags(flags).given
  const refused = refusedFlags.find((name) => given.has(name))
  if (refused !== undefined) throw flagError(refused, 'a test server stores its objects in memory; remove the flag')
  const settings = await readSettings(parseFlags([...defaultFlags, ...flags, ...fixedFlags]))
  for (const warning of settings.warnings) printError(`cluster-apiserver testserver: ${warning}\n`)
  const logger = createLogger(settings.logLevel, { fd: 2, format: settings.logFormat })
  const folder = mkdtempSync(join(tmpdir(), 'cluster-testserver-'))
  let server: EmbeddedServer | undefined
  try {
    server = await startEmbedded(settings, logger, { from })
    const failed = new Promise<number>((resolve) => logUncaughtErrors(signals, logger, () => resolve(exitCodes.failure)))
    print(`${JSON.stringify(describe(server, writeKubeconfig(folder, server)))}\n`)
    return await Promise.race([ended, failed])
  } finally {
    rmSync(folder, { recursive: true, force: true })
    if (server !== undefined) await closeImmediately(server)
    await logger.close()
  }
}

/** Separates --from, which is no flag of the server. */
function splitArgs(args: readonly string[]): { readonly from: string | undefined; readonly flags: readonly string[] } {
  const index = args.findLastIndex((arg) => /^--from(?:=|$)/.test(arg))
  const [flag, next] = args.slice(index, index + 2)
  if (index < 0 || flag === undefined) return { from: undefined, flags: args }
  const isOne = flag.includes('=')
  const from = isOne ? flag.slice('--from='.length) : next
  if (from === undefined || from === '') throw flagError('from', 'needs the path of a captured cluster')
  return { from, flags: args.toSpliced(index, isOne ? 1 : 2) }
}

function writeKubeconfig(folder: string, { clientConfiguration }: EmbeddedServer): string {
  const path = join(folder, 'kubeconfig')
  writePrivateFile(path, clientConfiguration)
  return path
}

const describe = ({ url, caPem, token, testkit }: EmbeddedServer, kubeconfig: string) => ({
  url,
  ca: caPem,
  token,
  kubeconfig,
  testkit,
  pid: process.pid,
})

const pollMs = 200

/**
 * Calls `end` once, when the parent of this process has ended. Node.js has no signal for it, but the id of the parent changes. A parent that
 * ends while Node.js starts is noticed only if it set its id in CLUSTER_PARENT_PID.
 */
function onParentEnd(end: () => void): void {
  const parent = process.ppid
  const named = Number(process.env['CLUSTER_PARENT_PID'] ?? '')
  const timer = setInterval(() => {
    if (process.ppid === parent && (named <= 0 || Number.isNaN(named) || isRunning(named))) return
    clearInterval(timer)
    end()
  }, pollMs).unref()
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (thrown) {
    // EPERM: it runs as another user.
    return (thrown as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}
