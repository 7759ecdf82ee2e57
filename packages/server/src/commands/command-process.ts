// Exit codes, and the parts of the Node.js process that commands use; tests replace them.

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
