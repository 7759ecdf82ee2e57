// Selection of server, user and namespace from a kubeconfig: context, overrides and validation.

import { refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { ConfigError } from '../errors.js'
import type { Impersonation } from '../requests/impersonation.js'
import { type ClientConfig, type ClusterEntry, type ContextEntry, clusterNames, type UserEntry, userNames } from './kubeconfig.js'

export interface ConnectionOverrides {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
  readonly clusterEntry?: ClusterEntry | undefined
  readonly userEntry?: UserEntry | undefined
}

export interface ChosenConnection {
  readonly context: string
  readonly cluster: ClusterEntry & { readonly server: string }
  readonly user: UserEntry
  readonly userName: string
  readonly namespace: string | undefined
  readonly impersonate: Impersonation | undefined
}

export function chooseConnection(config: ClientConfig, overrides: ConnectionOverrides = {}): ChosenConnection {
  const name = overrides.context || config.currentContext
  const context = contextOf(config, name, overrides.context !== undefined && overrides.context !== '')
  const clusterName = overrides.cluster || context.cluster || ''
  const userName = overrides.user || context.user || ''
  const selected: SelectedEntries = {
    context: name,
    cluster: entryOf(config.clusters, 'cluster', clusterName, name),
    clusterName,
    user: entryOf(config.users, 'user', userName, name),
    userName,
    namespace: context.namespace,
  }
  return resolveConnection(selected, overrides, () => missingServer(config, name, clusterName))
}

/** Applies overrides to a connection that does not come from a kubeconfig, such as in-cluster. */
export const overrideConnection = (connection: ChosenConnection, overrides: ConnectionOverrides): ChosenConnection =>
  resolveConnection({ ...connection, clusterName: '' }, overrides, () => 'no server is configured')

interface SelectedEntries extends Pick<ChosenConnection, 'context' | 'user' | 'userName' | 'namespace'> {
  readonly cluster: ClusterEntry
  readonly clusterName: string
}

function resolveConnection(selected: SelectedEntries, overrides: ConnectionOverrides, explainMissing: () => string): ChosenConnection {
  refuseUnknownOptions('clusterEntry', overrides.clusterEntry ?? {}, clusterNames)
  refuseUnknownOptions('userEntry', overrides.userEntry ?? {}, userNames)
  const { context, clusterName, userName } = selected
  const cluster = overrideCluster(selected.cluster, overrides.clusterEntry ?? {})
  const user = overrideUser(selected.user, overrides.userEntry ?? {})
  const { server = '' } = cluster
  if (server === '') throw new ConfigError(explainMissing())
  checkCluster(cluster, clusterName)
  checkUser(user, userName)
  return {
    context,
    cluster: { ...cluster, server },
    user,
    userName,
    namespace: overrides.namespace || selected.namespace || undefined,
    impersonate: impersonationOf(user),
  }
}

function contextOf(config: ClientConfig, name: string, isExplicit: boolean): ContextEntry {
  if (name === '') return {}
  const context = config.contexts.get(name)
  if (context === undefined && (isExplicit || config.contexts.size > 0 || config.clusters.size > 0)) {
    const others = [...config.contexts.keys()]
    throw new ConfigError(`context ${JSON.stringify(name)} does not exist${others.length === 0 ? '' : `; contexts: ${others.join(', ')}`}`)
  }
  return context ?? {}
}

function entryOf<T extends object>(
  entries: ReadonlyMap<string, T>,
  entryKind: string,
  name: string,
  context: string,
): T | Record<never, never> {
  if (name === '') return {}
  const entry = entries.get(name)
  if (entry !== undefined) return entry
  throw new ConfigError(
    `${entryKind} ${JSON.stringify(name)}${context === '' ? '' : ` of context ${JSON.stringify(context)}`} does not exist`,
  )
}

/** An override of a trust setting drops all trust settings of the file; an override of the server drops tls-server-name. */
function overrideCluster(entry: ClusterEntry, override: ClusterEntry): ClusterEntry {
  const { 'insecure-skip-tls-verify': isInsecure, 'certificate-authority': file, 'certificate-authority-data': data } = override
  const { 'insecure-skip-tls-verify': _, 'certificate-authority': _1, 'certificate-authority-data': _2, ...withoutTrust } = entry
  const trusted = isInsecure === true || isSet(file) || isSet(data) ? withoutTrust : entry
  const { 'tls-server-name': _3, ...withoutServerName } = trusted
  return { ...(isSet(override.server) ? withoutServerName : trusted), ...override }
}

const isSet = (text: string | undefined): boolean => text !== undefined && text !== ''

/** A token, user name or exec plugin replaces all of these in the file; the client certificate and its key are replaced one by one. */
function overrideUser(user: UserEntry, override: UserEntry): UserEntry {
  const { token: _, tokenFile: _1, username: _2, password: _3, exec: _4, 'auth-provider': _5, ...rest } = user
  const hasLogin =
    override.token !== undefined || override.tokenFile !== undefined || override.username !== undefined || override.exec !== undefined
  const { 'client-certificate': _6, 'client-certificate-data': _7, ...withoutCertificate } = hasLogin ? rest : user
  const withCertificate =
    isSet(override['client-certificate']) || isSet(override['client-certificate-data']) ? withoutCertificate : hasLogin ? rest : user
  const { 'client-key': _8, 'client-key-data': _9, ...withoutKey } = withCertificate
  return { ...(isSet(override['client-key']) || isSet(override['client-key-data']) ? withoutKey : withCertificate), ...override }
}

function missingServer({ contexts, clusters, currentContext }: ClientConfig, context: string, cluster: string): string {
  if (cluster !== '') return `cluster ${JSON.stringify(cluster)} names no server`
  if (context !== '') return `context ${JSON.stringify(context)} names no cluster`
  if (contexts.size > 0 && currentContext === '') return `no current-context is set; contexts: ${[...contexts.keys()].join(', ')}`
  return clusters.size > 0 ? 'no cluster is selected' : 'no client configuration was found, so no server is known'
}

function checkCluster(cluster: ClusterEntry, name: string): void {
  const where = name === '' ? 'the cluster' : `cluster ${JSON.stringify(name)}`
  const hasCa = (cluster['certificate-authority'] ?? cluster['certificate-authority-data'] ?? '') !== ''
  if (cluster['insecure-skip-tls-verify'] === true && hasCa) {
    throw new ConfigError(`${where}: certificate-authority and insecure-skip-tls-verify exclude each other`)
  }
  const { server = '' } = cluster
  if (!URL.canParse(server.includes('://') ? server : `http://${server}`))
    throw new ConfigError(`${where}: server ${JSON.stringify(server)} is not a valid URL, such as https://127.0.0.1:6443`)
  const proxy = cluster['proxy-url'] ?? ''
  if (proxy !== '' && !(URL.canParse(proxy) && isProxyProtocol(new URL(proxy).protocol))) {
    throw new ConfigError(`${where}: proxy-url ${JSON.stringify(proxy)} is not a URL with http://, https:// or socks5://`)
  }
}

export const isProxyProtocol = (protocol: string): boolean => /^(?:https?|socks5h?):$/.test(protocol)

function checkUser(user: UserEntry, name: string): void {
  const where = name === '' ? 'the user' : `user ${JSON.stringify(name)}`
  const hasCert = (user['client-certificate'] ?? user['client-certificate-data'] ?? '') !== ''
  const hasKey = (user['client-key'] ?? user['client-key-data'] ?? '') !== ''
  if (hasCert !== hasKey)
    throw new ConfigError(
      `${where}: ${hasCert ? 'client-certificate without client-key' : 'client-key without client-certificate'}; set both or neither`,
    )
  const hasToken = (user.token ?? user.tokenFile ?? '') !== ''
  const hasName = (user.username ?? '') !== ''
  if (hasToken && hasName) throw new ConfigError(`${where}: token and username exclude each other; remove one`)
  if (user['auth-provider'] !== undefined) throw new ConfigError(`${where}: auth-provider is not supported; use exec`)
  const hasUser = (user.as ?? '') !== ''
  const hasAttributes =
    (user['as-groups'] ?? []).length > 0 || (user['as-uid'] ?? '') !== '' || Object.keys(user['as-user-extra'] ?? {}).length > 0
  if (hasAttributes && !hasUser) throw new ConfigError(`${where}: as-uid, as-groups and as-user-extra require as`)
}

function impersonationOf(user: UserEntry): Impersonation | undefined {
  if (user.as === undefined || user.as === '') return undefined
  const { 'as-uid': uid, 'as-groups': groups, 'as-user-extra': extra } = user
  return {
    user: user.as,
    ...(uid === undefined ? {} : { uid }),
    ...(groups === undefined ? {} : { groups }),
    ...(extra === undefined ? {} : { extra }),
  }
}
