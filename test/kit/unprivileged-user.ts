// A user who is no administrator, on a server where everybody may do everything: limits do not hold for administrators.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, ApiClient } from './api-client.js'
import type { ServerProcess } from './server-process.js'

const token = 'token-of-a-plain-user'

/** Flags for a server that knows the user. */
export function plainUserFlags(): readonly string[] {
  const path = join(mkdtempSync(join(tmpdir(), 'plain-user-')), 'tokens.csv')
  writeFileSync(path, `${token},plain,plain-uid\n`, { mode: 0o600 })
  return [`--token-auth-file=${path}`, '--authorization-mode=AlwaysAllow']
}

export const plainAccess = (server: ServerProcess): Access => ({ ...server.access, token })

export const plainClient = (server: ServerProcess): ApiClient => new ApiClient(plainAccess(server))
