// Parses the command line into typed values. Dependencies between flags and contents of files are not checked here.

import { type FlagDefinition, FlagError, flagError } from './flag.js'
import { allFlags, type FlagName, type FlagValues } from './flag-table.js'
import { nearest, parseFlagValue } from './flag-value.js'

export interface ParsedFlags {
  readonly values: FlagValues
  /** Flags on the command line; the others have their default. */
  readonly given: ReadonlySet<FlagName>
}

const byName: ReadonlyMap<string, FlagDefinition> = new Map(allFlags.map((flag) => [flag.name, flag]))
const shortForms: { readonly [short: string]: string } = { '-h': '--help', '-v': '--v' }

/** Accepts `--flag=value`, `--flag value`, and for booleans `--flag`. The last value counts, lists are joined, and `_` is read as `-`. */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const values: Record<string, unknown> = {}
  const given = new Set<string>()
  for (let index = 0; index < argv.length; index++) {
    // kube-apiserver ignores empty arguments, too; old versions of envtest pass one.
    if (argv[index] === '') continue
    const { flag, attached } = readName(argv[index] ?? '')
    let text = attached
    if (text === undefined && flag.kind === 'boolean') text = 'true'
    if (text === undefined) text = argv[++index]
    if (text === undefined) throw flagError(flag.name, 'a value is missing')
    values[flag.name] = combine(flag, given.has(flag.name) ? values[flag.name] : undefined, parseValue(flag, text))
    given.add(flag.name)
  }
  for (const flag of allFlags) if (!given.has(flag.name)) values[flag.name] = defaultOf(flag)
  return { values: values as unknown as FlagValues, given: given as ReadonlySet<string> as ReadonlySet<FlagName> }
}

function readName(argument: string): { readonly flag: FlagDefinition; readonly attached: string | undefined } {
  const [head = '', ...rest] = argument.split('=')
  const long = shortForms[head] ?? head
  if (!long.startsWith('--') || long === '--') {
    const hint = /^(true|false)$/i.test(argument) ? `; a boolean is written --flag=${argument}` : ''
    throw new FlagError(`unexpected argument ${JSON.stringify(argument)}${hint}`)
  }
  const name = long.slice(2).replaceAll('_', '-')
  const flag = byName.get(name)
  if (flag === undefined) {
    const suggestion = nearest(name, [...byName.keys()])
    throw flagError(
      name,
      suggestion === undefined ? 'unknown flag; --help lists all of them' : `unknown flag; did you mean --${suggestion}?`,
    )
  }
  return { flag, attached: rest.length === 0 ? undefined : rest.join('=') }
}

function parseValue(flag: FlagDefinition, text: string): unknown {
  if (flag.refused !== undefined && text !== flag.default) throw flagError(flag.name, flag.refused)
  try {
    return parseFlagValue(flag, text)
  } catch (error) {
    throw flagError(flag.name, (error as Error).message)
  }
}

const isList = ({ kind }: FlagDefinition): boolean => kind === 'list' || kind === 'texts' || kind === 'files' || kind === 'choices'

function combine(flag: FlagDefinition, previous: unknown, value: unknown): unknown {
  return isList(flag) && previous !== undefined ? [...(previous as readonly string[]), ...(value as readonly string[])] : value
}

function defaultOf(flag: FlagDefinition): unknown {
  if (flag.default !== undefined) return parseFlagValue(flag, flag.default)
  return isList(flag) ? [] : undefined
}
