// ExecCredential protocol of credential plugins: validates the configuration, encodes the input, parses the output.

import { identityNames, identityOf } from '@cluster-apiserver/api/api/identity.js'
import { ConfigError, CredentialError } from '../errors.js'
import type { ClusterEntry, ExecEntry } from './kubeconfig.js'

const group = { stem: 'client.authentication' }
const execApiVersions: readonly string[] = identityNames.flatMap((name) =>
  ['v1', 'v1beta1'].map((version) => `${identityOf(name).group(group)}/${version}`),
)
const extensionNames: readonly string[] = identityNames.map((name) => `${identityOf(name).group(group)}/exec`)

const interactiveModes = ['Never', 'IfAvailable', 'Always'] as const
type InteractiveMode = (typeof interactiveModes)[number]

export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly installHint: string
  readonly provideClusterInfo: boolean
  readonly interactiveMode: InteractiveMode
}

/** Validates the `exec` entry of a user; `where` names the user in messages. */
export function readPlugin(entry: ExecEntry, where: string): ExecPlugin {
  const { apiVersion = '', command = '', interactiveMode = '' } = entry
  if (command === '') throw new ConfigError(`${where}: exec has no command`)
  if (apiVersion === '') throw new ConfigError(`${where}: exec has no apiVersion; supported: ${execApiVersions.join(', ')}`)
  if (!execApiVersions.includes(apiVersion)) {
    throw new ConfigError(
      `${where}: exec has the unsupported apiVersion ${JSON.stringify(apiVersion)}; supported: ${execApiVersions.join(', ')}`,
    )
  }
  for (const { name } of entry.env ?? []) if (name === '') throw new ConfigError(`${where}: a variable in exec.env has no name`)
  if (interactiveMode === '' && apiVersion.endsWith('/v1')) {
    throw new ConfigError(`${where}: exec requires interactiveMode with ${apiVersion}: ${interactiveModes.join(', ')}`)
  }
  const mode = interactiveMode === '' ? 'IfAvailable' : interactiveModes.find((candidate) => candidate === interactiveMode)
  if (mode === undefined) {
    throw new ConfigError(
      `${where}: exec has the unknown interactiveMode ${JSON.stringify(interactiveMode)}; supported: ${interactiveModes.join(', ')}`,
    )
  }
  return {
    apiVersion,
    command,
    args: entry.args ?? [],
    env: entry.env ?? [],
    installHint: entry.installHint ?? '',
    provideClusterInfo: entry.provideClusterInfo ?? false,
    interactiveMode: mode,
  }
}

/** Value of KUBERNETES_EXEC_INFO. `ca`: PEM of the certificate authority in base64. */
export function execInfo(plugin: ExecPlugin, isInteractive: boolean, cluster: ClusterEntry, ca: string | undefined): string {
  const { extensions = [] } = cluster
  const config = extensions.find(({ name }) => extensionNames.includes(name))?.extension
  const clusterInfo = {
    server: cluster.server,
    'tls-server-name': cluster['tls-server-name'] || undefined,
    'insecure-skip-tls-verify': cluster['insecure-skip-tls-verify'] || undefined,
    'certificate-authority-data': ca,
    'proxy-url': cluster['proxy-url'] || undefined,
    'disable-compression': cluster['disable-compression'] || undefined,
    config,
  }
  return JSON.stringify({
    kind: 'ExecCredential',
    apiVersion: plugin.apiVersion,
    spec: { ...(plugin.provideClusterInfo ? { cluster: clusterInfo } : {}), interactive: isInteractive },
  })
}

export interface PluginCredential {
  readonly token: string | undefined
  readonly certificate: { readonly cert: string; readonly key: string } | undefined
  /** Milliseconds since 1970; undefined: valid until the server responds with 401. */
  readonly expiresAt: number | undefined
}

interface ExecCredential {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly status?: {
    readonly token?: unknown
    readonly clientCertificateData?: unknown
    readonly clientKeyData?: unknown
    readonly expirationTimestamp?: unknown
  } | null
}

export function readPluginOutput(plugin: ExecPlugin, output: string, now: number): PluginCredential {
  const fail = (problem: string): never => {
    throw new CredentialError(`credential plugin ${plugin.command}: ${problem}`)
  }
  const credential = parse(output) ?? fail(output.trim() === '' ? 'it printed nothing' : 'it printed no JSON object')
  if (credential.kind !== 'ExecCredential') fail(`it printed kind ${JSON.stringify(credential.kind ?? '')} instead of ExecCredential`)
  if (credential.apiVersion !== plugin.apiVersion) {
    fail(`it is configured for ${plugin.apiVersion} but printed ${JSON.stringify(credential.apiVersion ?? '')}`)
  }
  const status = credential.status ?? fail('its output has no status')
  const text = (name: 'token' | 'clientCertificateData' | 'clientKeyData' | 'expirationTimestamp'): string => {
    const value = status[name] ?? ''
    return typeof value === 'string' ? value : fail(`status.${name} is not a string`)
  }
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')]
  if ((cert === '') !== (key === '')) fail(`it printed ${cert === '' ? 'a key without a certificate' : 'a certificate without a key'}`)
  if (token === '' && cert === '') fail('it printed neither a token nor a certificate')
  const expiry = text('expirationTimestamp')
  const expiresAt = expiry === '' ? undefined : Date.parse(expiry)
  if (expiresAt !== undefined && (Number.isNaN(expiresAt) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(expiry))) {
    fail(`status.expirationTimestamp ${JSON.stringify(expiry)} is not an RFC 3339 time`)
  }
  if (expiresAt !== undefined && expiresAt <= now) fail(`its credential expired at ${expiry}`)
  return {
    token: token === '' ? undefined : token,
    certificate: cert === '' ? undefined : { cert, key },
    expiresAt,
  }
}

function parse(output: string): ExecCredential | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns the Authorization header. Throws if the token cannot be sent in a header; `where` is for messages. */
export function bearer(token: string, where: string): string {
  if (token === '') throw new CredentialError(`${where}: the token is empty`)
  if (invalidHeaderCharacters.test(token))
    throw new CredentialError(`${where}: the token has a line break or another character that is invalid in headers`)
  return `Bearer ${token}`
}

const invalidHeaderCharacters = /[^\t\x20-\x7e\x80-\xff]/
