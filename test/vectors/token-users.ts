// Users with static tokens, as named in the tables (tables.ts).

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface TokenUser {
  readonly token: string
  readonly name: string
  readonly uid: string
  readonly groups: readonly string[]
}

/** Flags that define the users. */
export function writeTokens(folder: string, users: readonly TokenUser[]): readonly string[] {
  const path = join(folder, 'tokens.csv')
  const lines = new Set(users.map(({ token, name, uid, groups }) => `${token},${name},${uid},"${groups.join(',')}"`))
  writeFileSync(path, `${[...lines].join('\n')}\n`, { mode: 0o600 })
  return [`--token-auth-file=${path}`]
}
