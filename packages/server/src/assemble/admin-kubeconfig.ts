// The administrator's token, and the kubeconfig that contains the token (admin.conf).

import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { mastersGroup, type User } from '@cluster-apiserver/api/api/user.js'
import type { ClientConfig } from '@cluster-apiserver/client/config/kubeconfig.js'
import { readOptionalFile, writePrivateFile } from '../options/files/private-files.js'
import { pkiFolder } from './certificates/serving-certificate.js'

export interface AdminCredential {
  readonly token: string
  readonly user: User
}

const adminUser: User = { name: 'admin', uid: '', groups: [mastersGroup], extra: {} }

export const adminTokenFile = (dataDir: string): string => join(pkiFolder(dataDir), 'admin.token')

export function ensureAdminCredential(dataDir: string | undefined): AdminCredential {
  if (dataDir === undefined) return { token: newToken(), user: adminUser }
  const existing = readOptionalFile(adminTokenFile(dataDir))?.trim()
  if (existing !== undefined && existing !== '') return { token: existing, user: adminUser }
  const token = newToken()
  writePrivateFile(adminTokenFile(dataDir), `${token}\n`)
  return { token, user: adminUser }
}

/** Random token. It never begins with a hyphen, which command lines would read as a flag. */
export function newToken(): string {
  const token = randomBytes(32).toString('base64url')
  return token.startsWith('-') ? newToken() : token
}

interface AdminKubeconfigInput {
  readonly identity: Identity
  readonly url: string
  readonly caPem: string
  readonly credential: AdminCredential
}

export function clientConfigOf({ identity, url, caPem, credential: { token, user } }: AdminKubeconfigInput): ClientConfig {
  const cluster = identity.self
  const context = `${user.name}@${cluster}`
  return {
    clusters: new Map([[cluster, { server: url, 'certificate-authority-data': base64(caPem) }]]),
    users: new Map([[user.name, { token }]]),
    contexts: new Map([[context, { cluster, user: user.name }]]),
    currentContext: context,
  }
}

export const renderAdminKubeconfig = ({ identity, url, caPem, credential: { token, user } }: AdminKubeconfigInput): string =>
  renderKubeconfig({ cluster: identity.self, server: url, ca: base64(caPem), user: user.name, credential: { token } })

interface KubeconfigInput {
  readonly cluster: string
  readonly server: string
  readonly ca: string
  readonly user: string
  readonly credential: { readonly [field: string]: string }
}

/** YAML text. Strings are written as JSON, which is valid YAML. */
export function renderKubeconfig({ cluster, server, ca, user, credential }: KubeconfigInput): string {
  const quote = JSON.stringify
  const context = quote(`${user}@${cluster}`)
  const fields = Object.entries(credential).map(([name, value]) => `    ${name}: ${name.endsWith('-data') ? value : quote(value)}`)
  return `apiVersion: v1
kind: Config
clusters:
- name: ${quote(cluster)}
  cluster:
    server: ${quote(server)}
    certificate-authority-data: ${ca}
users:
- name: ${quote(user)}
  user:
${fields.join('\n')}
contexts:
- name: ${context}
  context:
    cluster: ${quote(cluster)}
    user: ${quote(user)}
current-context: ${context}
preferences: {}
`
}

export const base64 = (text: string): string => Buffer.from(text).toString('base64')

/** Called at every start, because the port may have changed. */
export function writeAdminKubeconfig(dataDir: string, text: string): string {
  const path = resolve(dataDir, 'admin.conf')
  if (readOptionalFile(path) !== text) writePrivateFile(path, text)
  return path
}

export function serverUrl(address: string, port: number): string {
  const host = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
