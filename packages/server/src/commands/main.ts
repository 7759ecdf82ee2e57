// The command cluster-apiserver: --help, --version and invalid flags. A second script, loaded on demand, has the server and subcommands.

import { FlagError } from '../options/flags/flag.js'
import { flagGroups } from '../options/flags/flag-table.js'
import { renderHelp } from '../options/flags/help.js'
import { type ParsedFlags, parseFlags } from '../options/flags/parse-flags.js'
import { type CommandProcess, exitCodes, ownProcess } from './command-process.js'
import { chooseStorage, standInFlags } from './envtest/apiserver.js'
import { runEtcd } from './envtest/etcd.js'
import type { ServeOptions } from './serve.js'
import { type Subcommand, subcommands } from './subcommands.js'
import { versionLine } from './version.js'

export interface ServerScript {
  runSubcommand(command: Subcommand, args: readonly string[], process: CommandProcess): Promise<number>
  serve(flags: ParsedFlags, options: ServeOptions): Promise<void>
}

export async function main(
  argv: readonly string[],
  loadServer: () => Promise<ServerScript>,
  overrides: Partial<ServeOptions> = {},
): Promise<void> {
  const options = { ...ownProcess, ...overrides }
  ignoreClosedOutput()
  const [command = '', ...args] = argv
  if (isSubcommand(command)) return options.exit(await (await loadServer()).runSubcommand(command, args, options))
  if (command === 'envtest-etcd') return runEtcd(args, options)
  const isStandIn = command === 'envtest-apiserver'
  const flags = readFlags(isStandIn ? [...standInFlags(process.env['CLUSTER_CONTROLLERS']), ...args] : argv, options)
  if (flags === undefined) options.exit(exitCodes.invalidCommandLine)
  else if (flags.values.help) options.print(renderHelp(flagGroups))
  else if (flags.values.version) options.print(`${versionLine()}\n`)
  else await (await loadServer()).serve(isStandIn ? await chooseStorage(flags) : flags, options)
}

const isSubcommand = (command: string): command is Subcommand => (subcommands as readonly string[]).includes(command)

function readFlags(argv: readonly string[], { printError }: CommandProcess): ParsedFlags | undefined {
  try {
    return parseFlags(argv)
  } catch (error) {
    if (!(error instanceof FlagError)) throw error
    printError(`cluster-apiserver: ${error.message}\n`)
    return undefined
  }
}

const ignore = (): void => undefined

/** The server keeps running if the reader of its output closes the pipe. */
function ignoreClosedOutput(): void {
  for (const stream of [process.stdout, process.stderr]) stream.off('error', ignore).on('error', ignore)
}
