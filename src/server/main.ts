// The command: flags become settings, settings become a running server, and signals end it.

import type { Assemble } from './embedding/parts.js'
import { type FaultSource, watchFaults } from './faults.js'
import { renderGreeting } from './greeting.js'
import { createLogger } from './logger.js'
import { type MoveCommand, moveCommands } from './move/move-commands.js'
import { flagGroups } from './options/flag-table.js'
import { renderHelp } from './options/help.js'
import { type ParsedFlags, parseFlags } from './options/parse-flags.js'
import { readSettings } from './options/read-settings.js'
import type { Settings } from './options/settings.js'
import { tunePlatformSoon } from './platform-flags.js'
import { makePrivateFolder } from './private-files.js'
import type { RunningServer } from './running-server.js'
import { explainStartFailure } from './start-failure.js'
import { packageVersion } from './version.js'

/** Everything that the command touches outside of itself, so that tests can stand in for it. */
export interface Surroundings {
  readonly print: (text: string) => void
  readonly complain: (text: string) => void
  readonly loadAssemble: () => Promise<Assemble>
  readonly signals: FaultSource & { on(event: 'SIGTERM' | 'SIGINT', listener: () => void): unknown }
  readonly exit: (code: number) => void
}

const processSurroundings: Surroundings = {
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  // Loaded when the command line is known to be right: a typing error is answered at once.
  loadAssemble: async () => (await import('./assemble.js')).assemble,
  signals: process,
  exit: (code) => process.exit(code),
}

/** How long a server may take to close when it is told to do so at once. */
const lastChanceMs = 2_000

export async function main(argv: readonly string[], others: Partial<Surroundings> = {}): Promise<void> {
  const surroundings = { ...processSurroundings, ...others }
  ignoreClosedOutput()
  const [command = '', ...args] = argv
  if (command === 'check') return runCheck(args, surroundings)
  if (command === 'admission') return runAdmission(args, surroundings)
  if (command === 'codec') return runCodec(args, surroundings)
  if (command === 'credentials') return runCredentials(args, surroundings)
  if (isMoveCommand(command)) return runMove(command, args, surroundings)
  try {
    const parsed = parseFlags(argv)
    if (parsed.values.help) surroundings.print(renderHelp(flagGroups))
    else if (parsed.values.version) surroundings.print(`cluster-apiserver ${packageVersion()}\n`)
    else await serve(parsed, surroundings)
  } catch (error) {
    const reason = explainStartFailure(error) ?? `start failed: ${error instanceof Error ? error.stack : String(error)}`
    surroundings.complain(`cluster-apiserver: ${reason}\n`)
    surroundings.exit(1)
  }
}

/** A command of its own, for objects and not for servers; loaded only when it is asked for. */
async function runCodec(args: readonly string[], { complain, exit }: Surroundings): Promise<void> {
  const [{ runCodecCommand }, { findSchema }] = await Promise.all([import('./codec-command.js'), import('./codec-schemas.js')])
  exit(await runCodecCommand(args, { input: process.stdin, print: (bytes) => void process.stdout.write(bytes), complain }, findSchema))
}

/** Objects held against all rules; no server is asked. */
async function runCheck(args: readonly string[], { print, complain, exit }: Surroundings): Promise<void> {
  const { runCheckCommand } = await import('./check/check-command.js')
  exit(await runCheckCommand(args, { print, complain }))
}

/** Reviews that were recorded, sent again to a hook. */
async function runAdmission(args: readonly string[], { print, complain, exit }: Surroundings): Promise<void> {
  const { runAdmissionCommand } = await import('./admission-command.js')
  exit(await runAdmissionCommand(args, { print, complain }))
}

/** A client configuration for somebody. */
async function runCredentials(args: readonly string[], { print, complain, exit }: Surroundings): Promise<void> {
  const { runCredentialsCommand } = await import('./credentials-command.js')
  exit(await runCredentialsCommand(args, { print, complain, now: () => Date.now() }))
}

const isMoveCommand = (command: string): command is MoveCommand => moveCommands.includes(command as MoveCommand)

/** What is stored, from one place to another. */
async function runMove(command: MoveCommand, args: readonly string[], { print, complain, exit }: Surroundings): Promise<void> {
  const { runMoveCommand } = await import('./move/move-command.js')
  exit(await runMoveCommand(command, args, { print, complain }))
}

async function serve(parsed: ParsedFlags, surroundings: Surroundings): Promise<void> {
  const settings = await readSettings(parsed)
  sayNotes(settings, surroundings)
  const logger = createLogger(settings.logLevel, { fd: 2, format: settings.logFormat })
  const exit = (code: number): void => {
    void logger.close().then(() => surroundings.exit(code))
  }
  if (settings.dataDir !== undefined) makePrivateFolder(settings.dataDir)
  const assemble = await surroundings.loadAssemble()
  const server = await assemble(settings, logger)
  tunePlatformSoon()
  watchFaults(surroundings.signals, logger, () => void closeAtOnce(server).then(() => exit(1)))
  endOnSignal(server, { ...surroundings, exit })
  surroundings.print(renderGreeting({ settings, server, version: packageVersion(), elapsedMs: performance.now() }))
}

function sayNotes({ warnings, flagsWithoutEffect }: Settings, { complain }: Surroundings): void {
  for (const warning of warnings) complain(`cluster-apiserver: ${warning}\n`)
  if (flagsWithoutEffect.length > 0) complain(`cluster-apiserver: accepted, but without effect: ${flagsWithoutEffect.join(', ')}\n`)
}

/** The first signal closes with grace, the second at once. */
function endOnSignal(server: RunningServer, { signals, exit, complain, print }: Surroundings): void {
  let state: 'serving' | 'ending' | 'hurrying' = 'serving'
  const end = (signal: string): void => {
    if (state !== 'serving') {
      state = 'hurrying'
      void closeAtOnce(server).then(() => exit(1))
      return
    }
    state = 'ending'
    print(`${signal}: shutting down; once more to end at once\n`)
    server.close().then(
      // Hurrying also ends the first, gentle close; requests were cut then.
      () => state === 'ending' && exit(0),
      (error: unknown) => {
        complain(`cluster-apiserver: shutting down failed: ${error instanceof Error ? error.message : String(error)}\n`)
        exit(1)
      },
    )
  }
  signals.on('SIGTERM', () => end('SIGTERM'))
  signals.on('SIGINT', () => end('SIGINT'))
}

async function closeAtOnce(server: RunningServer): Promise<void> {
  const patience = new Promise((resolve) => setTimeout(resolve, lastChanceMs).unref())
  await Promise.race([server.close({ immediately: true }).catch(() => undefined), patience])
}

const ignore = (): void => undefined

/** Whoever read the output may be gone; that is no reason to end. */
function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off('error', ignore).on('error', ignore)
}
