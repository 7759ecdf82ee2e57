// What a description is made of: titles with values, blocks and tables below them; and how it is written, in the columns that kubectl has.

import { printable, printableLine } from '../../base/printable.js'
import { compareText } from '../../base/text-order.js'
import type { Style } from '../io.js'
import { alignTabs } from '../output/align-tabs.js'

/** Several texts stand below one another. A value that is undefined is left out, with its title. */
export type Value = string | readonly string[] | Block | Grid | Lines | Inline | undefined
export type Entry = readonly [title: string, value: Value]

/** Entries of their own, further in. */
export interface Block {
  readonly entries: readonly Entry[]
  /** How much further; by default 2. */
  readonly indent?: number
}

export interface Grid {
  readonly headers: readonly string[]
  readonly rows: readonly (readonly string[])[]
  /** Below the headers; by default a line below each, and nothing where it is empty. */
  readonly rules?: readonly string[]
  /** How much further in; by default 2. */
  readonly indent?: number
}

/** Rows of cells below the title. */
export interface Lines {
  readonly lines: readonly (readonly string[])[]
}

/** Behind the title, and in no column. */
export interface Inline {
  readonly inline: string
}

export const none = '<none>'

export const block = (entries: readonly Entry[], indent = 2): Block | string => (entries.length === 0 ? none : { entries, indent })
export const grid = (headers: readonly string[], rows: readonly (readonly string[])[]): Grid | string =>
  rows.length === 0 ? none : { headers, rows }
/** Each in a line of its own below the title. */
export const below = (texts: readonly string[]): Lines => ({ lines: texts.flatMap((text) => text.split('\n').map((line) => [line])) })
/** Nothing but a title, and something further in. */
export const heading = (entries: readonly Entry[], indent = 2): Block => ({ entries, indent })
/** A line without a title. */
export const bare = (text: string): Entry => ['', { lines: [[text]] }]

export const orNone = (text: string | undefined): string => (text === undefined || text === '' ? none : text)
export const listOrNone = (texts: readonly string[]): readonly string[] => (texts.length === 0 ? [none] : texts)

/** `key=value`, in the order of the keys. */
export const pairsOf = (values: { readonly [key: string]: string } = {}, separator = '='): readonly string[] =>
  listOrNone(
    Object.entries(values)
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, value]) => `${printableLine(key)}${separator}${value}`),
  )

interface Line {
  readonly text: string
  /** So much of its beginning is a title. */
  readonly title: number
}

/** In columns. */
export function renderEntries(entries: readonly Entry[], style: Style): string {
  const lines = linesOf(entries, '')
  return alignTabs(lines.map(({ text }) => text))
    .map((text, i) => {
      const title = lines[i]?.title ?? 0
      return `${style.bold(text.slice(0, title))}${text.slice(title).trimEnd()}\n`
    })
    .join('')
}

/** With the tabs that make columns. */
export const renderTabbed = (entries: readonly Entry[]): string =>
  linesOf(entries, '')
    .map(({ text }) => `${text}\n`)
    .join('')

function linesOf(entries: readonly Entry[], prefix: string): readonly Line[] {
  return entries.flatMap(([title, value]) => (value === undefined ? [] : entryLines(printableLine(title), value, prefix)))
}

function entryLines(title: string, value: Exclude<Value, undefined>, prefix: string): readonly Line[] {
  const head = `${prefix}${title}:`
  const titled = (rest: string): Line => ({ text: `${head}${rest}`, title: prefix === '' ? head.length : 0 })
  if (typeof value === 'string') return valueLines([value], prefix, titled)
  if (isTexts(value)) return valueLines(value, prefix, titled)
  if ('inline' in value) return [titled(` ${printableLine(value.inline)}`)]
  if ('entries' in value) return [titled(''), ...linesOf(value.entries, prefix + ' '.repeat(value.indent ?? 2))]
  if ('lines' in value) {
    const rows = value.lines.map((cells) => plain(`${title === '' ? prefix : `${prefix}  `}${cells.map(printableLine).join('\t')}`))
    return title === '' ? rows : [titled(''), ...rows]
  }
  const inner = prefix + ' '.repeat(value.indent ?? 2)
  const row = (cells: readonly string[]): Line => plain(`${inner}${cells.map(printableLine).join('\t')}`)
  const under = value.rules ?? value.headers.map((header) => '-'.repeat(header.length))
  const rules = under.length === 0 ? [] : [row(under)]
  return [...(title === '' ? [] : [titled('')]), row(value.headers), ...rules, ...value.rows.map(row)]
}

const isTexts = (value: Exclude<Value, string | undefined>): value is readonly string[] => Array.isArray(value)

const plain = (text: string): Line => ({ text, title: 0 })

/** A text of several lines begins in a line of its own. */
function valueLines(texts: readonly string[], prefix: string, titled: (rest: string) => Line): readonly Line[] {
  return texts.flatMap((text, i) => {
    const [first = '', ...more] = printable(text).replaceAll('\t', '\\t').trimEnd().split('\n')
    const begin = more.length === 0 ? first : ''
    const line = i === 0 ? titled(`\t${begin}`) : plain(`\t${begin}`)
    return more.length === 0 ? [line] : [line, ...[first, ...more].map((one) => plain(`${prefix}  ${one}`))]
  })
}
