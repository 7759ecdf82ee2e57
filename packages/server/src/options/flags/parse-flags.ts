// The command line as typed values: forms, repetition and unknown flags are decided here, meaning in `read-settings`.

import { type FlagDefinition, FlagError, flagError } from './flag.js'
import { allFlags, type FlagName, type FlagValues } from './flag-table.js'
import { parseFlagValue } from './flag-value.js'
import { nearest } from './nearest.js'

export interface ParsedFlags {
  readonly values: FlagValues
  /** Which flags the command line names, in its order. */
  readonly given: ReadonlySet<FlagName>
}

const byName: ReadonlyMap<string, FlagDefinition> = new Map(allFlags.map((flag) => [flag.name, flag]))
const shortForms: { readonly [short: string]: string } = { '-h': '--help', '-v': '--v' }

/**
 * Forms: `--flag=value`, `--flag value`, and for booleans `--flag`, `--flag=false`. A flag given twice counts the last time; lists add up.
 * `_` in a name is read as `-`. Throws {@link FlagError}.
 */
export function parseFlags(argv: readonly string[]): ParsedFlags {
  const values: Record<string, unknown> = {}
  const given = new Set<string>()
  for (let index = 0; index < argv.length; index++) {
    const { flag, attached } = readName(argv[index] ?? '')
    let text = attached
    if (text === undefined && flag.kind === 'boolean') text = 'true'
    if (text === undefined) text = argv[++index]
    if (text === undefined) throw flagError(flag.name, 'the value is missing')
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
    const close = nearest(name, [...byName.keys()])
    throw flagError(name, close === undefined ? 'unknown flag; --help lists all of them' : `unknown flag; did you mean --${close}?`)
  }
  return { flag, attached: rest.length === 0 ? undefined : rest.join('=') }
}

function parseValue(flag: FlagDefinition, text: string): unknown {
  if (flag.refused !== undefined) throw flagError(flag.name, flag.refused)
  try {
    return parseFlagValue(flag, text)
  } catch (error) {
    throw flagError(flag.name, (error as Error).message)
  }
}

const holdsSeveral = ({ kind }: FlagDefinition): boolean => kind === 'list' || kind === 'texts' || kind === 'files' || kind === 'choices'

function combine(flag: FlagDefinition, before: unknown, value: unknown): unknown {
  return holdsSeveral(flag) && before !== undefined ? [...(before as readonly string[]), ...(value as readonly string[])] : value
}

function defaultOf(flag: FlagDefinition): unknown {
  if (flag.default !== undefined) return parseFlagValue(flag, flag.default)
  return holdsSeveral(flag) ? [] : undefined
}
