// Flags of a command line: `-n shop`, `-n=shop`, `-nshop`, `--namespace shop`, `--namespace=shop`, `-Aw`; what they may be is a table.

import { own } from '../base/own.js'

export interface FlagSpec {
  /** `texts` may be given again and are taken as they are; a `list` is cut at its commas, too. */
  readonly kind: 'switch' | 'text' | 'texts' | 'list' | 'number'
  readonly short?: string
  /** What it means without `=` and a value; it then never takes the next word. */
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

export interface ParsedLine<Table extends FlagTable> {
  readonly flags: FlagValues<Table>
  readonly args: readonly string[]
  /** What stands behind `--`; undefined where that is not there. */
  readonly rest: readonly string[] | undefined
}

/** The command line is wrong; the message says how. */
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
    else if (word.startsWith('--')) i += takeLong(word.slice(2), words[i + 1])
    else i += takeShort(word.slice(1), words[i + 1])
  }
  return { flags: valuesOf(table, values), args, rest }

  /** How many further words it takes. */
  function take(name: string, shown: string, value: string | undefined, next: string | undefined): number {
    const spec = own(table, name)
    if (spec === undefined) throw new UsageError(`unknown flag: ${shown}${suggestion(name, Object.keys(table))}`)
    const known = values.get(name) ?? []
    values.set(name, known)
    const bare = spec.kind === 'switch' ? 'true' : spec.bare
    if (value !== undefined || bare !== undefined) {
      known.push(value ?? (bare as string))
      return 0
    }
    if (next === undefined) throw new UsageError(`flag needs an argument: ${shown}`)
    known.push(next)
    return 1
  }

  function takeLong(text: string, next: string | undefined): number {
    const equals = text.indexOf('=')
    const name = equals < 0 ? text : text.slice(0, equals)
    return take(name, `--${name}`, equals < 0 ? undefined : text.slice(equals + 1), next)
  }

  function takeShort(letters: string, next: string | undefined): number {
    for (let at = 0; at < letters.length; at++) {
      const letter = letters[at] as string
      const name = byShort.get(letter)
      if (name === undefined) throw new UsageError(`unknown shorthand flag: '${letter}' in -${letters}`)
      const tail = letters.slice(at + 1)
      if (tail.startsWith('=')) return take(name, `-${letter}`, tail.slice(1), next)
      if (table[name]?.kind !== 'switch' && table[name]?.bare === undefined && tail !== '') return take(name, `-${letter}`, tail, next)
      const taken = take(name, `-${letter}`, undefined, tail === '' ? next : undefined)
      if (taken > 0) return taken
    }
    return 0
  }
}

function valuesOf<Table extends FlagTable>(table: Table, given: ReadonlyMap<string, readonly string[]>): FlagValues<Table> {
  const values: Record<string, unknown> = {}
  for (const [name, spec] of Object.entries(table)) {
    const texts = given.get(name) ?? (spec.initial === undefined ? [] : [spec.initial])
    const last = texts.at(-1)
    if (spec.kind === 'list') values[name] = texts.flatMap((text) => readList(name, text))
    else if (spec.kind === 'texts') values[name] = texts
    else if (spec.kind === 'switch') values[name] = readSwitch(name, last)
    else if (spec.kind === 'number') values[name] = last === undefined ? undefined : readNumber(name, last)
    else values[name] = last
  }
  return values as FlagValues<Table>
}

/** What contains a comma stands in quotes, in which a quote is written twice. */
function readList(name: string, text: string): readonly string[] {
  if (text === '') return []
  if (!text.includes('"')) return text.split(',')
  const items: string[] = []
  const item = /(?:"((?:[^"]|"")*)"|([^",]*))(?=,|$)/y
  for (let at = 0; at <= text.length; ) {
    item.lastIndex = at
    const [whole, quoted, plain] = item.exec(text) ?? []
    if (whole === undefined) throw new UsageError(`invalid argument ${text} for "--${name}" flag: a quote stands in the midst of a value`)
    items.push(plain ?? (quoted ?? '').replaceAll('""', '"'))
    at += whole.length + 1
  }
  return items
}

function readSwitch(name: string, text = 'false'): boolean {
  if (['true', '1', 't'].includes(text.toLowerCase())) return true
  if (['false', '0', 'f'].includes(text.toLowerCase())) return false
  throw new UsageError(`invalid argument "${text}" for "--${name}" flag: it is either true or false`)
}

function readNumber(name: string, text: string): number {
  const number = Number(text)
  if (text === '' || !Number.isInteger(number))
    throw new UsageError(`invalid argument "${text}" for "--${name}" flag: a whole number is expected`)
  return number
}

/** The one that was meant, where one differs by a letter or two. */
export function suggestion(name: string, known: readonly string[]): string {
  const near = known.find((other) => distance(name, other) <= (name.length > 4 ? 2 : 1))
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** How many letters have to change. */
function distance(a: string, b: string): number {
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

/** `90`, `1h30m`, `500ms` to milliseconds. */
export function durationMs(flag: string, text: string): number {
  if (/^-?\d+$/.test(text)) return Number(text) * 1000
  const units: { readonly [unit: string]: number } = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text.replace(/^-/, ''))
    throw new UsageError(`invalid argument "${text}" for "--${flag}" flag: a time such as 90s or 5m is expected`)
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * (units[unit as string] as number), 0)
  return text.startsWith('-') ? -ms : ms
}
