// Comma-separated values as RFC 4180 writes them: quoted fields may hold commas, line ends and doubled quotes.

export interface CsvRecord {
  /** Where the record begins, counted from 1. */
  readonly line: number
  readonly fields: readonly string[]
}

const field = /"((?:[^"]|"")*)"|([^",\r\n]*)/y

/** Records may differ in length; empty lines are left out. Throws an Error that names the line of a wrong quote. */
export function parseCsv(text: string): readonly CsvRecord[] {
  const source = text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '')
  const records: CsvRecord[] = []
  let line = 1
  let at = 0
  while (at < source.length) {
    const begin = at
    const fields: string[] = []
    do {
      if (fields.length > 0) at++
      const value = readField(source, at, line)
      fields.push(value.text)
      at = value.end
    } while (source[at] === ',')
    if (at > begin) records.push({ line, fields })
    at++
    line += source.slice(begin, at).split('\n').length - 1
  }
  return records
}

function readField(source: string, at: number, line: number): { readonly text: string; readonly end: number } {
  field.lastIndex = at
  const match = field.exec(source)
  const end = at + (match?.[0].length ?? 0)
  const next = source[end]
  if (next !== undefined && next !== ',' && next !== '\n') throw new Error(`line ${line} has a quotation mark in the wrong place`)
  return { text: match?.[1]?.replaceAll('""', '"') ?? match?.[2] ?? '', end }
}
