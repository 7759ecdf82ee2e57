// The file of static bearer tokens: CSV lines of token, user, uid and, in one quoted column, groups.

import type { User } from '../api/user.js'
import { parseCsv } from './csv.js'

export interface TokenFile {
  readonly users: ReadonlyMap<string, User>
  /** What was passed over, one sentence each. */
  readonly warnings: readonly string[]
}

/**
 * `alice-token,alice,alice-uid,"devs,readers"`; further columns are ignored. An empty token is passed over, and of two lines with the same
 * token the later counts, both with a warning. Throws an Error with one sentence when a line has fewer than three columns.
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
      warnings.push(`the token in line ${line} is empty, the line is passed over`)
      continue
    }
    if (users.has(token)) warnings.push(`the token in line ${line} was there before, the later line counts`)
    users.set(token, { name, uid, groups: groups.split(',').filter((group) => group !== ''), extra: {} })
  }
  return { users, warnings }
}
