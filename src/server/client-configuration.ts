// What a client needs to talk to this server as its administrator: a credential of the data folder, and the file that clients read.

import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Identity } from '../api/identity.js'
import { mastersGroup, type User } from '../api/user.js'
import type { ClientConfig } from '../client/config/config-entries.js'
import { pkiFolder } from './certificates.js'
import { readOptionalFile, type WriteFile, writePrivateFile } from './private-files.js'

export interface AdminCredential {
  readonly token: string
  readonly user: User
}

const adminUser: User = { name: 'admin', uid: '', groups: [mastersGroup], extra: {} }

export const adminTokenFile = (dataDir: string): string => join(pkiFolder(dataDir), 'admin.token')

/** The token of the data folder, made when there is none yet; without a folder, one for the life of the process. */
export function ensureAdminCredential(dataDir: string | undefined, write: WriteFile = writePrivateFile): AdminCredential {
  if (dataDir === undefined) return { token: newToken(), user: adminUser }
  const kept = readOptionalFile(adminTokenFile(dataDir))?.trim()
  if (kept !== undefined && kept !== '') return { token: kept, user: adminUser }
  const token = newToken()
  write(adminTokenFile(dataDir), `${token}\n`)
  return { token, user: adminUser }
}

const newToken = (): string => randomBytes(32).toString('base64url')

export interface ClientConfigurationInput {
  readonly identity: Identity
  /** Such as `https://127.0.0.1:6443`. */
  readonly url: string
  readonly caPem: string
  readonly credential: AdminCredential
}

/** The configuration as a client has it that has read the text. */
export function clientConfigOf({ identity, url, caPem, credential: { token, user } }: ClientConfigurationInput): ClientConfig {
  const cluster = identity.self
  return {
    clusters: new Map([[cluster, { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') }]]),
    users: new Map([[user.name, { token }]]),
    contexts: new Map([[contextOf(cluster, user), { cluster, user: user.name }]]),
    currentContext: contextOf(cluster, user),
  }
}

const contextOf = (cluster: string, user: User): string => `${user.name}@${cluster}`

/** The configuration as YAML text. Texts are written as JSON strings, which YAML reads, too. */
export function renderClientConfiguration({ identity, url, caPem, credential }: ClientConfigurationInput): string {
  const cluster = identity.self
  const user = credential.user.name
  const context = contextOf(cluster, credential.user)
  return `apiVersion: v1
kind: Config
clusters:
- name: ${JSON.stringify(cluster)}
  cluster:
    server: ${JSON.stringify(url)}
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
users:
- name: ${JSON.stringify(user)}
  user:
    token: ${JSON.stringify(credential.token)}
contexts:
- name: ${JSON.stringify(context)}
  context:
    cluster: ${JSON.stringify(cluster)}
    user: ${JSON.stringify(user)}
current-context: ${JSON.stringify(context)}
preferences: {}
`
}

/** Written again at every start, because the port may have changed. Answers with the path. */
export function writeClientConfiguration(dataDir: string, text: string, write: WriteFile = writePrivateFile): string {
  const path = resolve(dataDir, 'admin.conf')
  if (readOptionalFile(path) !== text) write(path, text)
  return path
}

/** Where clients on this machine reach a server that is bound to `address`. */
export function urlOf(address: string, port: number): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
