// What a description is made of: titles with values, blocks and tables below them; and how it is written.

import { printable, printableLine } from '../../base/printable.js'
import { compareText } from '../../base/text-order.js'
import type { Style } from '../io.js'
import { alignRows } from '../output/columns.js'

/** Several texts stand below one another. A value that is undefined is left out, with its title. */
export type Value = string | readonly string[] | Block | Grid | undefined
export type Entry = readonly [title: string, value: Value]

/** Entries of their own, further in. */
export interface Block {
  readonly entries: readonly Entry[]
}

export interface Grid {
  readonly headers: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const none = '<none>'
const unit = '  '

export const block = (entries: readonly Entry[]): Block | string => (entries.length === 0 ? none : { entries })
export const grid = (headers: readonly string[], rows: readonly (readonly string[])[]): Grid | string =>
  rows.length === 0 ? none : { headers, rows }

export const orNone = (text: string | undefined): string => (text === undefined || text === '' ? none : text)
export const listOrNone = (texts: readonly string[]): readonly string[] => (texts.length === 0 ? [none] : texts)

/** `key=value`, in the order of the keys. */
export const pairsOf = (values: { readonly [key: string]: string } = {}, separator = '='): readonly string[] =>
  listOrNone(
    Object.entries(values)
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, value]) => `${printableLine(key)}${separator}${value}`),
  )

export function renderEntries(entries: readonly Entry[], style: Style, prefix = ''): string {
  const shown = entries.filter(([, value]) => value !== undefined)
  const width = Math.max(0, ...shown.filter(([, value]) => isText(value)).map(([title]) => title.length)) + 3
  return shown.map(([title, value]) => renderEntry(title, value, { style, prefix, width })).join('')
}

const isText = (value: Value): value is string | readonly string[] => typeof value === 'string' || Array.isArray(value)

interface Manner {
  readonly style: Style
  readonly prefix: string
  readonly width: number
}

function renderEntry(title: string, value: Value, { style, prefix, width }: Manner): string {
  const name = printableLine(title)
  const head = `${prefix}${prefix === '' ? style.bold(`${name}:`) : `${name}:`}`
  if (value === undefined) return ''
  if (isText(value)) {
    const texts = typeof value === 'string' ? [value] : value
    const gap = (length: number): string => ' '.repeat(Math.max(1, width - length))
    return texts
      .map((text, i) => `${i === 0 ? `${head}${gap(name.length + 1)}` : `${prefix}${gap(0)}`}${continued(text, prefix + unit)}`)
      .map((line) => `${line.replaceAll(/ +$/gm, '')}\n`)
      .join('')
  }
  const inner = prefix + unit
  if ('entries' in value) return `${head}\n${renderEntries(value.entries, style, inner)}`
  const rules = value.headers.map((header) => '-'.repeat(header.length))
  const table = alignRows([value.headers, rules, ...value.rows].map(([first = '', ...rest]) => [inner + first, ...rest]))
  return `${head}\n${table.replaceAll(/ +$/gm, '')}`
}

/** A text of several lines begins in a line of its own. */
function continued(text: string, prefix: string): string {
  const clean = printable(text)
  if (!clean.includes('\n')) return clean
  return `\n${clean
    .trimEnd()
    .split('\n')
    .map((line) => `${prefix}${line}`)
    .join('\n')}`
}
