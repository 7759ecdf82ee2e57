// Rows as columns that stand below one another, and columns that the caller names.

import { printableLine } from '../../base/printable.js'
import { Failure } from '../failure.js'
import type { Style } from '../io.js'
import { plainStyle } from '../io.js'
import { goText } from './go-text.js'
import { follow, parseRelaxed } from './json-path.js'

const leastWidth = 6
const padding = 3

/** A cell in colour. Colours come from here alone: what looks like the code of one in a text is text. */
export interface PaintedCell {
  readonly text: string
  readonly paint: (text: string) => string
}

export type Cell = string | PaintedCell

/** Every cell but the last of a row is as wide as its column. Widths may be handed on, for rows that come later. */
export function alignRows(rows: readonly (readonly Cell[])[], widths: number[] = [], between = padding): string {
  const lines = rows.map((row) => row.map(cleanCell))
  for (const row of lines) {
    row.forEach(({ text }, i) => {
      if (i < row.length - 1) widths[i] = Math.max(widths[i] ?? leastWidth, widthOf(text) + between)
    })
  }
  return lines
    .map(
      (row) => `${row.map((cell, i) => cell.paint(cell.text) + (i === row.length - 1 ? '' : gap(cell, widths[i] as number))).join('')}\n`,
    )
    .join('')
}

const unpainted = (text: string): string => text

const cleanCell = (cell: Cell): PaintedCell =>
  typeof cell === 'string' ? { text: printableLine(cell), paint: unpainted } : { text: printableLine(cell.text), paint: cell.paint }

const gap = ({ text }: PaintedCell, width: number): string => ' '.repeat(Math.max(0, width - widthOf(text)))

/** In characters; most texts have none that takes two code units. */
export const widthOf = (text: string): number => (hasPairs.test(text) ? [...text].length : text.length)

const hasPairs = /[\ud800-\udbff]/

export interface NamedColumns {
  readonly headers: readonly string[]
  rowOf(object: unknown): readonly string[]
}

/** `NAME:.metadata.name,PRICE:.data.price` */
export function namedColumns(spec: string): NamedColumns {
  if (spec.trim() === '') throw new Failure('custom-columns format specified but no custom columns given')
  return columnsOf(
    splitColumns(spec).map((column) => {
      const colon = column.indexOf(':')
      if (colon < 0) throw new Failure(`unexpected custom-columns spec: ${column}, expected <header>:<json-path-expr>`)
      return { header: column.slice(0, colon), path: column.slice(colon + 1) }
    }),
  )
}

/** A file with a line of headers and a line of paths. */
export function columnsOfFile(text: string): NamedColumns {
  const [headers = '', paths = ''] = text.split('\n').filter((line) => line.trim() !== '')
  const words = (line: string): readonly string[] => line.trim().split(/\s+/)
  if (words(headers).length !== words(paths).length) throw new Failure('the file for custom-columns must have as many paths as headers')
  return columnsOf(words(headers).map((header, i) => ({ header, path: words(paths)[i] as string })))
}

function columnsOf(columns: readonly { readonly header: string; readonly path: string }[]): NamedColumns {
  const paths = columns.map(({ path }) => parseRelaxed(path))
  const cellOf = (object: unknown, path: (typeof paths)[number]): string => {
    const found = follow(path, object).map(goText)
    return found.length === 0 ? '<none>' : found.join(',')
  }
  return { headers: columns.map(({ header }) => header), rowOf: (object) => paths.map((path) => cellOf(object, path)) }
}

/** At commas that are in no brackets. */
function splitColumns(spec: string): readonly string[] {
  const parts = ['']
  let depth = 0
  for (const letter of spec) {
    if ('[('.includes(letter)) depth++
    if ('])'.includes(letter)) depth--
    if (letter === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += letter
  }
  return parts
}

export const headerRow = (headers: readonly string[], style: Style = plainStyle): readonly Cell[] =>
  headers.map((text) => ({ text, paint: style.bold }))
