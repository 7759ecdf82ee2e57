// What a replica is called among others on the same etcd. A data folder has one server at a time, so a name that is kept there is nobody
// else's, and a replica that comes back is known.

import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { readOptionalFile, writePrivateFile } from './private-files.js'

export function ensureReplicaName(dataDir: string | undefined): string {
  const fresh = `${hostname()}_${randomUUID()}`
  if (dataDir === undefined) return fresh
  const path = join(dataDir, 'replica.name')
  const kept = readOptionalFile(path)?.trim()
  if (kept) return kept
  writePrivateFile(path, `${fresh}\n`)
  return fresh
}
