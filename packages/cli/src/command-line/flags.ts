// Parser of command line flags: `-n shop`, `-n=shop`, `-nshop`, `--namespace shop`, `--namespace=shop`, `-Aw`.

import { parseDurationMs } from '@cluster-apiserver/api/base/duration.js'
import { own } from '@cluster-apiserver/api/base/own-property.js'

export interface FlagSpec {
  /** `texts` and `list` may be repeated; values of a `list` are also split at commas. */
  readonly kind: 'switch' | 'text' | 'texts' | 'list' | 'number'
  readonly short?: string
  /** Value of the flag without `=`; such a flag never takes the next argument. */
  readonly bare?: string
  readonly initial?: string
  readonly help: string
}

export type FlagTable = { readonly [name: string]: FlagSpec }

type ValueOf<Spec extends FlagSpec> = Spec['kind'] extends 'switch'
  ? boolean
  : Spec['kind'] extends 'list' | 'texts'
    ? readonly string[]
    : Spec['kind'] extends 'number'
      ? number | undefined
      : string | undefined

export type FlagValues<Table extends FlagTable> = { readonly [Name in keyof Table]: ValueOf<Table[Name]> }

interface ParsedLine<Table extends FlagTable> {
  readonly flags: FlagValues<Table>
  readonly args: readonly string[]
  /** Arguments after `--`; undefined without `--`. */
  readonly rest: readonly string[] | undefined
}

export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export function parseLine<Table extends FlagTable>(words: readonly string[], table: Table): ParsedLine<Table> {
  const values = new Map<string, string[]>()
  const args: string[] = []
  const byShort = new Map(Object.entries(table).flatMap(([name, { short }]) => (short === undefined ? [] : [[short, name] as const])))
  let rest: readonly string[] | undefined
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    if (word === '--') {
      rest = words.slice(i + 1)
      break
    }
    if (!word.startsWith('-') || word === '-') args.push(word)
    else if (word.startsWith('--')) i += parseLong(word.slice(2), words[i + 1])
    else i += parseShort(word.slice(1), words[i + 1])
  }
  return { flags: valuesOf(table, values), args, rest }

  function setFlag(name: string, flagText: string, value: string | undefined, next: string | undefined): number {
    const spec = own(table, name)
    if (spec === undefined) throw new UsageError(`unknown flag: ${flagText}${suggestion(name, Object.keys(table))}`)
    const texts = values.get(name) ?? []
    values.set(name, texts)
    const bare = spec.kind === 'switch' ? 'true' : spec.bare
    if (value !== undefined || bare !== undefined) {
      texts.push(value ?? (bare as string))
      return 0
    }
    if (next === undefined) throw new UsageError(`flag needs an argument: ${flagText}`)
    texts.push(next)
    return 1
  }

  function parseLong(text: string, next: string | undefined): number {
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    return setFlag(name, `--${name}`, equals < 0 ? undefined : text.slice(equals + 1), next)
  }

  function parseShort(chars: string, next: string | undefined): number {
    for (let index = 0; index < chars.length; index++) {
      const char = chars[index] as string
      const name = byShort.get(char)
      if (name === undefined) throw new UsageError(`unknown shorthand flag: '${char}' in -${chars}`)
      const tail = chars.slice(index + 1)
      if (tail.startsWith('=')) return setFlag(name, `-${char}`, tail.slice(1), next)
      if (table[name]?.kind !== 'switch' && table[name]?.bare === undefined && tail !== '') return setFlag(name, `-${char}`, tail, next)
      const consumed = setFlag(name, `-${char}`, undefined, tail === '' ? next : undefined)
      if (consumed > 0) return consumed
    }
    return 0
  }
}

function valuesOf<Table extends FlagTable>(table: Table, textsByFlag: ReadonlyMap<string, readonly string[]>): FlagValues<Table> {
  const values: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(table)) {
    const texts = textsByFlag.get(name) ?? (spec.initial === undefined ? [] : [spec.initial])
    const last = texts.at(-1)
    if (spec.kind === 'list') values[name] = texts.flatMap((text) => readList(name, text))
    else if (spec.kind === 'texts') values[name] = texts
    else if (spec.kind === 'switch') values[name] = readSwitch(name, last)
    else if (spec.kind === 'number') values[name] = last === undefined ? undefined : readNumber(name, last)
    else values[name] = last
  }
  return values as FlagValues<Table>
}

/** Splits CSV: items with commas are in double quotes, in which a quote is doubled. */
function readList(name: string, text: string): readonly string[] {
  if (text === '') return []
  if (!text.includes('"')) return text.split(',')
  const items: string[] = []
  const itemPattern = /(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/y
  for (let index = 0; index <= text.length; ) {
    itemPattern.lastIndex = index
    const [match, quoted, unquoted] = itemPattern.exec(text) ?? []
    if (match === undefined) throw new UsageError(`invalid argument ${text} for "--${name}" flag: a quote in the middle of a value`)
    items.push(unquoted ?? (quoted ?? '').replaceAll('""', '"'))
    index += match.length + 1
  }
  return items
}

function readSwitch(name: string, text = 'false'): boolean {
  if (['true', '1', 't'].includes(text.toLowerCase())) return true
  if (['false', '0', 'f'].includes(text.toLowerCase())) return false
  throw new UsageError(`invalid argument "${text}" for "--${name}" flag: must be true or false`)
}

function readNumber(name: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isInteger(number)) throw new UsageError(`invalid argument "${text}" for "--${name}" flag: must be an integer`)
  return number
}

export function suggestion(name: string, candidates: readonly string[]): string {
  const nearest = candidates.find((other) => editDistance(name, other) <= (name.length > 4 ? 2 : 1))
  return nearest === undefined ? '' : `; did you mean "${nearest}"?`
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length] as number
}

export function durationMs(flag: string, text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text) * 1000
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new UsageError(`invalid argument "${text}" for "--${flag}" flag: must be a duration such as 90s or 5m`)
  return ms
}
