// Static token file: CSV lines of token, user, uid and, in one quoted column, groups.

import type { User } from '@cluster-apiserver/api/api/user.js'

export interface TokenFile {
  readonly users: ReadonlyMap<string, User>
  readonly warnings: readonly string[]
}

/**
 * Format: `alice-token,alice,alice-uid,"devs,readers"`; further columns are ignored. Empty tokens are skipped and the last of equal tokens
 * counts, both with a warning.
 */
export function parseTokenFile(text: string): TokenFile {
  const users = new Map<string, User>()
  const warnings: string[] = []
  for (const { line, fields } of parseCsv(text)) {
    const [token, name, uid, groups = ''] = fields
    if (token === undefined || name === undefined || uid === undefined) {
      throw new Error(`line ${line} must have at least 3 columns (token, user name, user uid), found ${fields.length}`)
    }
    if (token === '') {
      warnings.push(`line ${line} has an empty token and is ignored`)
      continue
    }
    if (users.has(token)) warnings.push(`line ${line} has the token of an earlier line and replaces it`)
    users.set(token, { name, uid, groups: groups.split(',').filter((group) => group !== ''), extra: {} })
  }
  return { users, warnings }
}

interface CsvRecord {
  readonly line: number
  readonly fields: readonly string[]
}

const fieldPattern = /"((?:[^"]|"")*)"|([^",\r\n]*)/y

/** Skips empty lines. */
export function parseCsv(text: string): readonly CsvRecord[] {
  const source = text.replaceAll('\r\n', '\n').replace(/^\uFEFF/, '')
  const records: CsvRecord[] = []
  let line = 1
  let offset = 0
  while (offset < source.length) {
    const start = offset
    const fields: string[] = []
    do {
      if (fields.length > 0) offset++
      const value = readField(source, offset, line)
      fields.push(value.text)
      offset = value.end
    } while (source[offset] === ',')
    if (offset > start) records.push({ line, fields })
    offset++
    line += source.slice(start, offset).split('\n').length - 1
  }
  return records
}

function readField(source: string, offset: number, line: number): { readonly text: string; readonly end: number } {
  fieldPattern.lastIndex = offset
  const match = fieldPattern.exec(source)
  const end = offset + (match?.[0].length ?? 0)
  const next = source[end]
  if (next !== undefined && next !== ',' && next !== '\n') throw new Error(`line ${line} has a misplaced quotation mark`)
  return { text: match?.[1]?.replaceAll('""', '"') ?? match?.[2] ?? '', end }
}
