// Layout of descriptions: titles with values, nested blocks and tables, aligned like kubectl.

import { escapeTerminalControls, escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { Style } from '../command-line/io.js'
import { widthOf } from '../output/columns.js'

/** A list is one line per text. An undefined value omits the entry. */
type Value = string | readonly string[] | Block | Grid | Lines | Inline | undefined
export type Entry = readonly [title: string, value: Value]

export interface Block {
  readonly entries: readonly Entry[]
  readonly indent?: number
}

export interface Grid {
  readonly headers: readonly string[]
  readonly rows: readonly (readonly string[])[]
  readonly rules?: readonly string[]
  readonly indent?: number
}

interface Lines {
  readonly lines: readonly (readonly string[])[]
}

interface Inline {
  readonly inline: string
}

export const none = '<none>'

export const block = (entries: readonly Entry[], indent = 2): Block | string => (entries.length === 0 ? none : { entries, indent })
export const grid = (headers: readonly string[], rows: readonly (readonly string[])[]): Grid | string =>
  rows.length === 0 ? none : { headers, rows }
/** Lines below the title. */
export const below = (texts: readonly string[]): Lines => ({ lines: texts.flatMap((text) => text.split('\n').map((line) => [line])) })
/** A title without a value, with entries below it. */
export const heading = (entries: readonly Entry[], indent = 2): Block => ({ entries, indent })
/** A line without a title. */
export const bare = (text: string): Entry => ['', { lines: [[text]] }]

export const orNone = (text: string | undefined): string => (text === undefined || text === '' ? none : text)
export const listOrNone = (texts: readonly string[]): readonly string[] => (texts.length === 0 ? [none] : texts)

export const pairsOf = (values: { readonly [key: string]: string } = {}, separator = '='): readonly string[] =>
  listOrNone(
    Object.entries(values)
      .sort(([a], [b]) => compareText(a, b))
      .map(([key, value]) => `${escapeTerminalLine(key)}${separator}${value}`),
  )

interface Line {
  readonly text: string
  /** Length of the bold title; 0: no bold title. */
  readonly title: number
}

export function renderEntries(entries: readonly Entry[], style: Style): string {
  const lines = linesOf(entries, '')
  return alignTabs(lines.map(({ text }) => text))
    .map((text, i) => {
      const title = lines[i]?.title ?? 0
      return `${style.bold(text.slice(0, title))}${text.slice(title).trimEnd()}\n`
    })
    .join('')
}

export const renderTabbed = (entries: readonly Entry[]): string =>
  linesOf(entries, '')
    .map(({ text }) => `${text}\n`)
    .join('')

function linesOf(entries: readonly Entry[], prefix: string): readonly Line[] {
  return entries.flatMap(([title, value]) => (value === undefined ? [] : entryLines(escapeTerminalLine(title), value, prefix)))
}

function entryLines(title: string, value: Exclude<Value, undefined>, prefix: string): readonly Line[] {
  const head = `${prefix}${title}:`
  const titled = (rest: string): Line => ({ text: `${head}${rest}`, title: prefix === '' ? head.length : 0 })
  if (typeof value === 'string') return valueLines([value], prefix, titled)
  if (isTexts(value)) return valueLines(value, prefix, titled)
  if ('inline' in value) return [titled(` ${escapeTerminalLine(value.inline)}`)]
  if ('entries' in value) return [titled(''), ...linesOf(value.entries, prefix + ' '.repeat(value.indent ?? 2))]
  if ('lines' in value) {
    const rows = value.lines.map((cells) => untitled(`${title === '' ? prefix : `${prefix}  `}${cells.map(escapeTerminalLine).join('\t')}`))
    return title === '' ? rows : [titled(''), ...rows]
  }
  const inner = prefix + ' '.repeat(value.indent ?? 2)
  const row = (cells: readonly string[]): Line => untitled(`${inner}${cells.map(escapeTerminalLine).join('\t')}`)
  const ruleCells = value.rules ?? value.headers.map((header) => '-'.repeat(header.length))
  const rules = ruleCells.length === 0 ? [] : [row(ruleCells)]
  return [...(title === '' ? [] : [titled('')]), row(value.headers), ...rules, ...value.rows.map(row)]
}

const isTexts = (value: Exclude<Value, string | undefined>): value is readonly string[] => Array.isArray(value)

const untitled = (text: string): Line => ({ text, title: 0 })

function valueLines(texts: readonly string[], prefix: string, titled: (rest: string) => Line): readonly Line[] {
  return texts.flatMap((text, i) => {
    const [first = '', ...rest] = escapeTerminalControls(text).replaceAll('\t', '\\t').trimEnd().split('\n')
    const begin = rest.length === 0 ? first : ''
    const line = i === 0 ? titled(`\t${begin}`) : untitled(`\t${begin}`)
    return rest.length === 0 ? [line] : [line, ...[first, ...rest].map((textLine) => untitled(`${prefix}  ${textLine}`))]
  })
}

const padding = 2

export function alignTabs(lines: readonly string[]): readonly string[] {
  const rows = lines.map((line) => line.split('\t'))
  const out = rows.map(() => '')
  align(0, rows.length, 0)
  return out

  /** Writes the columns from `column` on. The last cell of a row is not aligned. */
  function align(from: number, to: number, column: number): void {
    for (let start = from; start < to; ) {
      const cells = rows[start] as readonly string[]
      if (column >= cells.length - 1) {
        out[start] += cells[column] ?? ''
        start++
        continue
      }
      let end = start
      let width = 0
      for (; end < to && column < (rows[end] as readonly string[]).length - 1; end++)
        width = Math.max(width, widthOf(rows[end]?.[column] as string) + padding)
      for (let i = start; i < end; i++) {
        const text = rows[i]?.[column] as string
        out[i] += text + ' '.repeat(width - widthOf(text))
      }
      align(start, end, column + 1)
      start = end
    }
  }
}
