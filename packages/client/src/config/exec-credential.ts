// The conversation with a credential plugin, as values: what it is told, and what it must answer.

import { identityNames, identityOf } from '../../api/identity.js'
import { ConfigError, CredentialError } from '../errors.js'
import type { ClusterEntry, ExecEntry } from './config-entries.js'

const group = { stem: 'client.authentication' }
/** In either vocabulary. */
export const execApiVersions: readonly string[] = identityNames.flatMap((name) =>
  ['v1', 'v1beta1'].map((version) => `${identityOf(name).group(group)}/${version}`),
)
const extensionNames: readonly string[] = identityNames.map((name) => `${identityOf(name).group(group)}/exec`)

const modes = ['Never', 'IfAvailable', 'Always'] as const
export type InteractiveMode = (typeof modes)[number]

/** A plugin as the configuration must describe it. */
export interface ExecPlugin {
  readonly apiVersion: string
  readonly command: string
  readonly args: readonly string[]
  readonly env: readonly { readonly name: string; readonly value: string }[]
  readonly installHint: string
  readonly provideClusterInfo: boolean
  readonly interactiveMode: InteractiveMode
}

/** Throws where the configuration leaves out or says wrong what a plugin needs. `where` names the user. */
export function readPlugin(entry: ExecEntry, where: string): ExecPlugin {
  const { apiVersion = '', command = '', interactiveMode = '' } = entry
  if (command === '') throw new ConfigError(`${where}: exec has no command`)
  if (apiVersion === '') throw new ConfigError(`${where}: exec has no apiVersion; ${execApiVersions.join(', ')} are known`)
  if (!execApiVersions.includes(apiVersion)) {
    throw new ConfigError(`${where}: exec has the apiVersion ${JSON.stringify(apiVersion)}; ${execApiVersions.join(', ')} are known`)
  }
  for (const { name } of entry.env ?? []) if (name === '') throw new ConfigError(`${where}: a variable in exec.env has no name`)
  if (interactiveMode === '' && apiVersion.endsWith('/v1')) {
    throw new ConfigError(`${where}: exec must say an interactiveMode with ${apiVersion}: ${modes.join(', ')}`)
  }
  const mode = interactiveMode === '' ? 'IfAvailable' : modes.find((one) => one === interactiveMode)
  if (mode === undefined) {
    throw new ConfigError(`${where}: exec has the interactiveMode ${JSON.stringify(interactiveMode)}; ${modes.join(', ')} are known`)
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

/** What the plugin is told, as the text of KUBERNETES_EXEC_INFO. `ca`: the certificate authority as base64, wherever it comes from. */
export function execInfo(plugin: ExecPlugin, isInteractive: boolean, cluster: ClusterEntry, ca: string | undefined): string {
  const { extensions = [] } = cluster
  const config = extensions.find(({ name }) => extensionNames.includes(name))?.extension
  const described = {
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
    spec: { ...(plugin.provideClusterInfo ? { cluster: described } : {}), interactive: isInteractive },
  })
}

export interface PluginCredential {
  readonly token: string | undefined
  readonly certificate: { readonly cert: string; readonly key: string } | undefined
  /** Milliseconds since 1970; undefined: until it is refused. */
  readonly expiresAt: number | undefined
}

interface Answer {
  readonly kind?: unknown
  readonly apiVersion?: unknown
  readonly status?: {
    readonly token?: unknown
    readonly clientCertificateData?: unknown
    readonly clientKeyData?: unknown
    readonly expirationTimestamp?: unknown
  } | null
}

/** Throws a CredentialError that says what is wrong with the answer. */
export function readPluginAnswer(plugin: ExecPlugin, output: string, now: number): PluginCredential {
  const fail = (problem: string): never => {
    throw new CredentialError(`credential plugin ${plugin.command}: ${problem}`)
  }
  const answer = parse(output) ?? fail(`it printed no JSON object${output.trim() === '' ? ', but nothing at all' : ''}`)
  if (answer.kind !== 'ExecCredential') fail(`it printed a ${JSON.stringify(answer.kind ?? '')} and no ExecCredential`)
  if (answer.apiVersion !== plugin.apiVersion) {
    fail(`it is configured for ${plugin.apiVersion} and answered in ${JSON.stringify(answer.apiVersion ?? '')}`)
  }
  const status = answer.status ?? fail('its answer has no status')
  const text = (name: 'token' | 'clientCertificateData' | 'clientKeyData' | 'expirationTimestamp'): string => {
    const value = status[name] ?? ''
    return typeof value === 'string' ? value : fail(`status.${name} is no text`)
  }
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')]
  if ((cert === '') !== (key === '')) fail(`it gave only a ${cert === '' ? 'key' : 'certificate'}; the two go together`)
  if (token === '' && cert === '') fail('it gave neither a token nor a certificate')
  const expiry = text('expirationTimestamp')
  const expiresAt = expiry === '' ? undefined : Date.parse(expiry)
  if (expiresAt !== undefined && (Number.isNaN(expiresAt) || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/.test(expiry))) {
    fail(`status.expirationTimestamp ${JSON.stringify(expiry)} is no time`)
  }
  if (expiresAt !== undefined && expiresAt <= now) fail(`its credential has expired at ${expiry}, before it was used`)
  return {
    token: token === '' ? undefined : token,
    certificate: cert === '' ? undefined : { cert, key },
    expiresAt,
  }
}

function parse(output: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(output)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
