// Rows as columns that stand below one another, and columns that the caller names.

import { Failure } from '../failure.js'
import type { Style } from '../io.js'
import { plainStyle } from '../io.js'
import { follow, parseRelaxed, textOf } from './json-path.js'

const leastWidth = 6
const padding = 3

/** Every cell but the last of a row is as wide as its column. Widths may be handed on, for rows that come later. */
export function alignRows(rows: readonly (readonly string[])[], widths: number[] = []): string {
  for (const row of rows) {
    row.forEach((cell, i) => {
      if (i < row.length - 1) widths[i] = Math.max(widths[i] ?? leastWidth, widthOf(cell) + padding)
    })
  }
  return rows
    .map(
      (row) =>
        `${row.map((cell, i) => (i === row.length - 1 ? cell : cell + ' '.repeat(Math.max(0, (widths[i] as number) - widthOf(cell))))).join('')}\n`,
    )
    .join('')
}

/** Letters, not the codes of colours. */
const widthOf = (text: string): number => [...(text.includes('\x1b') ? text.replaceAll(/\x1b\[\d+m/g, '') : text)].length

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
    const found = follow(path, object).map(textOf)
    return found.length === 0 || (found.length === 1 && found[0] === '') ? '<none>' : found.join(',')
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

export const headerRow = (headers: readonly string[], style: Style = plainStyle): readonly string[] =>
  headers.map((header) => style.bold(header))
