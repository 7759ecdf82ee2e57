// Entry point of `clusterctl`: finds, loads and runs the command, prints errors, returns the exit code.

import { own } from '@cluster-apiserver/api/base/own-property.js'
import { escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import type { Command } from './command-line/command.js'
import { type CommandEntry, commands } from './command-line/command-table.js'
import { explain } from './command-line/errors.js'
import { parseLine, suggestion, UsageError } from './command-line/flags.js'
import { commandWordIndexes, globalFlags } from './command-line/global-flags.js'
import { type Io, processIo } from './command-line/io.js'
import { Session, type TransportWrap } from './command-line/session.js'

interface MainOptions {
  readonly io?: Io
  readonly signal?: AbortSignal
}

export async function main(argv: readonly string[], { io: givenIo, signal }: MainOptions = {}): Promise<number> {
  const io = givenIo ?? processIo(colorFlagOf(argv))
  let session: Session | undefined
  let failureCode = 1
  try {
    if (argv[0] === '__complete') {
      const found = await (await import('./command-line/completion-candidates.js')).complete(argv.slice(1))
      io.out(found.map((word) => `${word}\n`).join(''))
      return 0
    }
    const { words, entry, rest, next } = findCommand(argv)
    if (next !== undefined && words[0] === 'create') throw unknownCreateCommand(next)
    if (entry === undefined) return await showHelp(words, rest, io)
    const command = await entry.load()
    failureCode = command.failureCode ?? failureCode
    const { flags, args, rest: afterDashes } = parseLine(rest, { ...globalFlags, ...command.flags })
    if (flags.help) {
      io.out((await import('./command-line/help.js')).commandHelp(words, entry, command))
      return 0
    }
    if ('kustomize' in flags && flags.kustomize !== undefined)
      throw new UsageError(`kustomizations are not supported: pipe the output of kustomize into "clusterctl ${words.join(' ')} -f -"`)
    if (command.takesNoArguments === true && args.length > 0) throw new UsageError(`unexpected arguments: ${args.join(' ')}`)
    // The session ignores flags that the command defines itself, such as --insecure-skip-tls-verify of `config set-cluster`.
    const overridden = Object.fromEntries(Object.keys(command.flags).map((name) => [name, undefined]))
    const warn = (text: string): void => io.err(`${io.style.yellow('Warning:')} ${escapeTerminalLine(text)}\n`)
    session = new Session({ ...flags, ...overridden }, warn, await loggingWrap(flags.v ?? 0, io))
    const code = await command.run({
      args,
      rest: afterDashes,
      flags,
      session,
      io,
      signal: signal ?? new AbortController().signal,
    } as Parameters<Command['run']>[0])
    if (flags['warnings-as-errors'] && session.warnings > 0) {
      io.err(`error: ${session.warnings} warning${session.warnings === 1 ? '' : 's'} received\n`)
      return failureCode
    }
    return code ?? 0
  } catch (thrown) {
    if (signal?.aborted === true) return 130
    io.err(explain(thrown))
    if (thrown instanceof UsageError) {
      const { words, entry } = findCommand(argv)
      io.err(`  see: clusterctl ${entry === undefined ? 'help' : `${words.join(' ')} --help`}\n`)
    }
    return failureCode
  } finally {
    session?.close()
  }
}

const requestLogLevel = 6

async function loggingWrap(level: number, io: Io): Promise<TransportWrap | undefined> {
  if (level < requestLogLevel) return undefined
  const { LoggingTransport } = await import('./command-line/logging-transport.js')
  return (transport, server) => new LoggingTransport(transport, { server, level, log: (line) => io.err(`${escapeTerminalLine(line)}\n`) })
}

interface FoundCommand {
  readonly words: readonly string[]
  readonly entry: CommandEntry | undefined
  readonly rest: readonly string[]
  /** Word after a command of one word: in `create` an unknown subcommand. */
  readonly next?: string | undefined
}

function findCommand(argv: readonly string[]): FoundCommand {
  const indexes = commandWordIndexes(argv)
  for (const count of [3, 2, 1]) {
    const commandIndexes = indexes.slice(0, count)
    if (commandIndexes.length < count) continue
    const words = commandIndexes.map((index, i) => longNameOf(argv[index] as string, i))
    const name = words.join(' ')
    const entry = own(commands, name)
    if (entry !== undefined)
      return {
        words,
        entry,
        rest: argv.filter((_, i) => !commandIndexes.includes(i)),
        next: count === 1 ? argv[indexes[1] ?? -1] : undefined,
      }
  }
  return { words: indexes.slice(0, 2).map((index) => argv[index] as string), entry: undefined, rest: argv }
}

function unknownCreateCommand(next: string): UsageError {
  const prefix = `create ${longNameOf(next, 1)} `
  const subcommands = Object.keys(commands).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  if (subcommands.length > 0) return new UsageError(`missing type: ${prefix}(${subcommands.join(' | ')}) NAME`)
  return new UsageError(`unknown command "create ${next}"; use "create -f FILE"`)
}

const shortNames: { readonly [name: string]: string } = {
  ns: 'namespace',
  cm: 'configmap',
  sa: 'serviceaccount',
  deploy: 'deployment',
  svc: 'service',
  ing: 'ingress',
  cj: 'cronjob',
  pdb: 'poddisruptionbudget',
  pc: 'priorityclass',
  resourcequota: 'quota',
  use: 'use-context',
  no: 'node',
  nodes: 'node',
  po: 'pod',
  pods: 'pod',
}

const longNameOf = (word: string, position: number): string => (position === 1 ? (own(shortNames, word) ?? word) : word)

async function showHelp(words: readonly string[], rest: readonly string[], io: Io): Promise<number> {
  const { groupHelp, mainHelp } = await import('./command-line/help.js')
  const [first] = words
  if (first === undefined || first === 'help') {
    parseLine(first === undefined ? rest : [], globalFlags)
    io.out(mainHelp())
    return 0
  }
  const { unsupportedCommands } = await import('./command-line/help.js')
  const unsupported = [words.slice(0, 2).join(' '), first].find((name) => own(unsupportedCommands, name) !== undefined)
  if (unsupported !== undefined) throw new UsageError(`"${unsupported}" is not supported: ${own(unsupportedCommands, unsupported)}`)
  const group = Object.keys(commands).filter((name) => name.startsWith(`${first} `))
  if (group.length > 0) {
    if (words.length > 1 && !rest.includes('--help'))
      throw new UsageError(
        `unknown command "${words.join(' ')}"${suggestion(
          words[1] as string,
          group.map((name) => name.slice(first.length + 1)),
        )}`,
      )
    const isHelpRequested = words.length > 1 || rest.includes('--help') || rest.includes('-h')
    if (isHelpRequested) io.out(groupHelp(first))
    else io.err(groupHelp(first))
    return isHelpRequested ? 0 : 1
  }
  throw new UsageError(`unknown command "${first}"${suggestion(first, Object.keys(commands))}`)
}

function colorFlagOf(argv: readonly string[]): string {
  const flagIndex = argv.findIndex((word) => word === '--color' || word.startsWith('--color='))
  const word = argv[flagIndex]
  return word === undefined ? 'auto' : word === '--color' ? (argv[flagIndex + 1] ?? 'auto') : word.slice('--color='.length)
}
