// The command `clusterctl`: finds the command that is meant, loads it and nothing else, runs it, and says what went wrong.

import { own } from '../base/own.js'
import { printableLine } from '../base/printable.js'
import type { Command } from './command.js'
import { type CommandEntry, commands } from './command-table.js'
import { Exit, explain } from './failure.js'
import { parseLine, suggestion, UsageError } from './flags.js'
import { type Io, processIo } from './io.js'
import { plainWords } from './plain-words.js'
import { Session, type TransportWrap } from './session.js'
import { usualFlags } from './usual-flags.js'

export interface Surroundings {
  readonly io?: Io
  readonly signal?: AbortSignal
}

/** Gives the exit code. */
export async function main(argv: readonly string[], { io: givenIo, signal }: Surroundings = {}): Promise<number> {
  const io = givenIo ?? processIo(colourOf(argv))
  let session: Session | undefined
  let failureCode = 1
  try {
    // What the scripts of shells ask; they want an answer, or none.
    if (argv[0] === '__complete') {
      const found = await (await import('./complete.js')).complete(argv.slice(1))
      io.out(found.map((word) => `${word}\n`).join(''))
      return 0
    }
    const { words, entry, rest, next } = findCommand(argv)
    // Before its flags are found to be none of ours.
    if (next !== undefined && words[0] === 'create') throw unknownCreation(next)
    if (entry === undefined) return await showHelp(words, rest, io)
    const command = await entry.load()
    failureCode = command.failureCode ?? failureCode
    const { flags, args, rest: behind } = parseLine(rest, { ...usualFlags, ...command.flags })
    if (flags.help) {
      io.out((await import('./help.js')).commandHelp(words, entry, command))
      return 0
    }
    if ('kustomize' in flags && flags.kustomize !== undefined)
      throw new UsageError(
        `kustomizations are not built here: pipe what another program makes of it into "clusterctl ${words.join(' ')} -f -"`,
      )
    if (command.takesNoWords === true && args.length > 0) throw new UsageError(`unexpected arguments: ${args.join(' ')}`)
    // A flag that means something else here says nothing about the server.
    const others = Object.fromEntries(Object.keys(command.flags).map((name) => [name, undefined]))
    const warn = (text: string): void => io.err(`${io.style.yellow('Warning:')} ${printableLine(text)}\n`)
    session = new Session({ ...flags, ...others }, warn, await tellingAt(flags.v ?? 0, io))
    const code = await command.run({ args, rest: behind, flags, session, io, signal: signal ?? new AbortController().signal } as Parameters<
      Command['run']
    >[0])
    if (flags['warnings-as-errors'] && session.warnings > 0) {
      io.err(`error: ${session.warnings} warning${session.warnings === 1 ? '' : 's'} received\n`)
      return 1
    }
    return code ?? 0
  } catch (thrown) {
    if (thrown instanceof Exit) return thrown.code
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

const tellsRequests = 6

async function tellingAt(level: number, io: Io): Promise<TransportWrap | undefined> {
  if (level < tellsRequests) return undefined
  const { TellingTransport } = await import('./telling-transport.js')
  return (transport, server) => new TellingTransport(transport, { server, level, tell: (line) => io.err(`${printableLine(line)}\n`) })
}

interface Found {
  readonly words: readonly string[]
  readonly entry: CommandEntry | undefined
  readonly rest: readonly string[]
  /** The word behind a command of one word, where none of its flags stands before it. */
  readonly next?: string | undefined
}

/** Flags may stand before the command, and between its words. */
function findCommand(argv: readonly string[]): Found {
  const places = plainWords(argv)
  for (const count of [3, 2, 1]) {
    const at = places.slice(0, count)
    if (at.length < count) continue
    const words = at.map((place, i) => longNameOf(argv[place] as string, i))
    const name = words.join(' ')
    const entry = own(commands, name)
    if (entry !== undefined)
      return { words, entry, rest: argv.filter((_, i) => !at.includes(i)), next: count === 1 ? argv[places[1] ?? -1] : undefined }
  }
  return { words: places.slice(0, 2).map((place) => argv[place] as string), entry: undefined, rest: argv }
}

function unknownCreation(next: string): UsageError {
  const prefix = `create ${longNameOf(next, 1)} `
  const sorts = Object.keys(commands).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []))
  if (sorts.length > 0) return new UsageError(`say of which sort, and its name: ${prefix}(${sorts.join(' | ')}) NAME`)
  return new UsageError(`there is no "create ${next}"; write the object into a file, and use -f`)
}

/** Of the words behind `create`. */
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
  // Of `config`.
  use: 'use-context',
}

const longNameOf = (word: string, place: number): string => (place === 1 ? (own(shortNames, word) ?? word) : word)

async function showHelp(words: readonly string[], rest: readonly string[], io: Io): Promise<number> {
  const { groupHelp, wholeHelp } = await import('./help.js')
  const [first] = words
  if (first === undefined || first === 'help') {
    parseLine(first === undefined ? rest : [], usualFlags)
    io.out(wholeHelp())
    return 0
  }
  const { elsewhere } = await import('./elsewhere.js')
  const said = [words.slice(0, 2).join(' '), first].find((name) => own(elsewhere, name) !== undefined)
  if (said !== undefined) throw new UsageError(`there is no "${said}": ${own(elsewhere, said)}`)
  const group = Object.keys(commands).filter((name) => name.startsWith(`${first} `))
  if (group.length > 0) {
    if (words.length > 1 && !rest.includes('--help'))
      throw new UsageError(
        `unknown command "${words.join(' ')}"${suggestion(
          words[1] as string,
          group.map((name) => name.slice(first.length + 1)),
        )}`,
      )
    const isAsked = words.length > 1 || rest.includes('--help') || rest.includes('-h')
    // As with kubectl, where this one is no failure.
    if (isAsked || first === 'certificate') io.out(groupHelp(first))
    else io.err(groupHelp(first))
    return isAsked || first === 'certificate' ? 0 : 1
  }
  throw new UsageError(`unknown command "${first}"${suggestion(first, Object.keys(commands))}`)
}

function colourOf(argv: readonly string[]): string {
  const at = argv.findIndex((word) => word === '--color' || word.startsWith('--color='))
  const word = argv[at]
  return word === undefined ? 'auto' : word === '--color' ? (argv[at + 1] ?? 'auto') : word.slice('--color='.length)
}
