// The frame of all subcommands: exit codes, --help, errors, and the parts of the Node.js process that they use, which tests replace.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { escapeTerminalControls } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'

/** Exit codes, which a table in --help explains. */
export const exitCodes = { success: 0, failure: 1, invalidCommandLine: 2 } as const

export interface CommandOutput {
  readonly print: (text: string) => void
  readonly printError: (text: string) => void
}

export interface CommandProcess extends CommandOutput {
  readonly signals: {
    on(event: 'SIGTERM' | 'SIGINT' | 'SIGHUP', listener: () => void): unknown
    on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown
  }
  readonly exit: (code: number) => void
}

export const ownProcess: CommandProcess = {
  print: (text) => void process.stdout.write(text),
  printError: (text) => void process.stderr.write(text),
  signals: process,
  exit: (code) => process.exit(code),
}

interface Command<Options> {
  readonly name: string
  readonly usage: string
  /** Throws for an invalid command line. */
  readonly read: (args: readonly string[]) => Options
  /** Resolves with the exit code; undefined means success. */
  readonly run: (options: Options) => Promise<number | undefined>
  /** Default: the message alone. */
  readonly explain?: (thrown: unknown) => string
}

/** Runs a subcommand: prints its usage for --help, and its errors. Resolves with the exit code. */
export async function runCommand<Options>(
  { name, usage, read, run, explain = errorMessage }: Command<Options>,
  args: readonly string[],
  { print, printError }: CommandOutput,
): Promise<number> {
  if (args.includes('--help') || args.includes('-h')) {
    print(usage)
    return exitCodes.success
  }
  let options: Options
  try {
    options = read(args)
  } catch (thrown) {
    printError(`cluster-apiserver ${name}: ${escapeTerminalControls(errorMessage(thrown))}\n\n${usage}`)
    return exitCodes.invalidCommandLine
  }
  try {
    return (await run(options)) ?? exitCodes.success
  } catch (thrown) {
    printError(`cluster-apiserver ${name}: ${explain(thrown)}\n`)
    return exitCodes.failure
  }
}

/** For bugs: the message alone would not show where they are. */
export const stackOf = (thrown: unknown): string => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown))
