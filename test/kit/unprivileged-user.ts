// An unprivileged user on a server with AlwaysAllow: rate limits do not apply to administrators.

import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Access, ApiClient } from './api-client.js'
import type { ServerProcess } from './server-process.js'

const token = 'token-of-an-unprivileged-user'

/** Server flags that define the user. */
export function unprivilegedUserFlags(): readonly string[] {
  const path = join(mkdtempSync(join(tmpdir(), 'plain-user-')), 'tokens.csv')
  writeFileSync(path, `${token},plain,plain-uid\n`, { mode: 0o600 })
  return [`--token-auth-file=${path}`, '--authorization-mode=AlwaysAllow']
}

export const unprivilegedAccess = (server: ServerProcess): Access => ({ ...server.access, token })

export const unprivilegedClient = (server: ServerProcess): ApiClient => new ApiClient(unprivilegedAccess(server))
