// Aligned columns, custom-columns and ages.

import { escapeTerminalLine } from '@cluster-apiserver/api/base/text/escape-terminal-controls.js'
import { CommandError } from '../command-line/errors.js'
import { plainStyle, type Style } from '../command-line/io.js'
import { goText } from './go-text.js'
import { evaluatePath, parseRelaxed } from './json-path.js'

const minWidth = 6
const padding = 3

/** Coloured cell. `text` is escaped before `paint` adds colour codes. */
interface PaintedCell {
  readonly text: string
  readonly paint: (text: string) => string
}

export type Cell = string | PaintedCell

/** Pads all cells except the last of a row. Keep `widths` to align later rows with earlier ones. */
export function alignRows(rows: readonly (readonly Cell[])[], widths: number[] = [], gapWidth = padding): string {
  const lines = rows.map((row) => row.map(escapeCell))
  for (const row of lines) {
    row.forEach(({ text }, i) => {
      if (i < row.length - 1) widths[i] = Math.max(widths[i] ?? minWidth, widthOf(text) + gapWidth)
    })
  }
  return lines
    .map(
      (row) => `${row.map((cell, i) => cell.paint(cell.text) + (i === row.length - 1 ? '' : gap(cell, widths[i] as number))).join('')}\n`,
    )
    .join('')
}

const unpainted = (text: string): string => text

const escapeCell = (cell: Cell): PaintedCell =>
  typeof cell === 'string'
    ? { text: escapeTerminalLine(cell), paint: unpainted }
    : { text: escapeTerminalLine(cell.text), paint: cell.paint }

const gap = ({ text }: PaintedCell, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text)))

/** Number of code points; texts without surrogate pairs take the fast path. */
export const widthOf = (text: string): number => (surrogatePattern.test(text) ? [...text].length : text.length)

const surrogatePattern = /[\ud800-\udbff]/

export interface NamedColumns {
  readonly headers: readonly string[]
  rowOf(object: unknown): readonly string[]
}

export function namedColumns(spec: string): NamedColumns {
  if (spec.trim() === '') throw new CommandError('custom-columns format specified but no custom columns given')
  return columnsOf(
    splitColumns(spec).map((column) => {
      const colon = column.indexOf(':')
      if (colon < 0) throw new CommandError(`unexpected custom-columns spec: ${column}, expected <header>:<json-path-expr>`)
      return { header: column.slice(0, colon), path: column.slice(colon + 1) }
    }),
  )
}

export function columnsOfFile(text: string): NamedColumns {
  const [headers = '', paths = ''] = text.split('\n').filter((line) => line.trim() !== '')
  const words = (line: string): readonly string[] => line.trim().split(/\s+/)
  if (words(headers).length !== words(paths).length) throw new CommandError('the custom-columns file must have as many paths as headers')
  return columnsOf(words(headers).map((header, i) => ({ header, path: words(paths)[i] as string })))
}

function columnsOf(columns: readonly { readonly header: string; readonly path: string }[]): NamedColumns {
  const paths = columns.map(({ path }) => parseRelaxed(path))
  const cellOf = (object: unknown, path: (typeof paths)[number]): string => {
    const found = evaluatePath(path, object).map(goText)
    return found.length === 0 ? '<none>' : found.join(',')
  }
  return { headers: columns.map(({ header }) => header), rowOf: (object) => paths.map((path) => cellOf(object, path)) }
}

function splitColumns(spec: string): readonly string[] {
  const parts = ['']
  let depth = 0
  for (const char of spec) {
    if ('[('.includes(char)) depth++
    if ('])'.includes(char)) depth--
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts
}

export const headerRow = (headers: readonly string[], style: Style = plainStyle): readonly Cell[] =>
  headers.map((text) => ({ text, paint: style.bold }))

export function ageText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 10) return `${minutes}m${seconds % 60 === 0 ? '' : `${seconds % 60}s`}`
  if (minutes < 180) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 8) return `${hours}h${minutes % 60 === 0 ? '' : `${minutes % 60}m`}`
  if (hours < 48) return `${hours}h`
  const days = Math.floor(hours / 24)
  if (hours < 192) return `${days}d${hours % 24 === 0 ? '' : `${hours % 24}h`}`
  if (days < 730) return `${days}d`
  const years = Math.floor(days / 365)
  return years < 8 ? `${years}y${days % 365 === 0 ? '' : `${days % 365}d`}` : `${years}y`
}
