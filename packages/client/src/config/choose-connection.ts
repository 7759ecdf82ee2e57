// Which server, as whom and in which namespace: what the context of a configuration names, and what the caller says instead.

import { refuseUnknownOptions } from '../../base/known-options.js'
import { ConfigError } from '../errors.js'
import type { Impersonation } from '../impersonation.js'
import { type ClientConfig, type ClusterEntry, type ContextEntry, clusterNames, type UserEntry, userNames } from './config-entries.js'

/** What counts instead of what the files say. */
export interface ConnectionOverrides {
  readonly context?: string | undefined
  /** Names of entries. */
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
  /** Put over the entries that were chosen. */
  readonly clusterEntry?: ClusterEntry | undefined
  readonly userEntry?: UserEntry | undefined
}

export interface ChosenConnection {
  /** The name of the context, and empty where there is none. */
  readonly context: string
  readonly cluster: ClusterEntry & { readonly server: string }
  readonly user: UserEntry
  /** The name of the user's entry. */
  readonly userName: string
  readonly namespace: string | undefined
  readonly impersonate: Impersonation | undefined
}

export function chooseConnection(config: ClientConfig, overrides: ConnectionOverrides = {}): ChosenConnection {
  const name = overrides.context || config.currentContext
  const context = contextOf(config, name, overrides.context !== undefined && overrides.context !== '')
  const clusterName = overrides.cluster || context.cluster || ''
  const userName = overrides.user || context.user || ''
  const found: Found = {
    context: name,
    cluster: entryOf(config.clusters, 'cluster', clusterName, name),
    clusterName,
    user: entryOf(config.users, 'user', userName, name),
    userName,
    namespace: context.namespace,
  }
  return complete(found, overrides, () => missingServer(config, name, clusterName))
}

/** A connection that was found elsewhere, with what counts instead of parts of it. */
export const overrideConnection = (connection: ChosenConnection, overrides: ConnectionOverrides): ChosenConnection =>
  complete({ ...connection, clusterName: '' }, overrides, () => 'there is no server to talk to')

interface Found extends Pick<ChosenConnection, 'context' | 'user' | 'userName' | 'namespace'> {
  readonly cluster: ClusterEntry
  readonly clusterName: string
}

function complete(found: Found, overrides: ConnectionOverrides, explainMissing: () => string): ChosenConnection {
  refuseUnknownOptions('clusterEntry', overrides.clusterEntry ?? {}, clusterNames)
  refuseUnknownOptions('userEntry', overrides.userEntry ?? {}, userNames)
  const { context, clusterName, userName } = found
  const cluster = overCluster(found.cluster, overrides.clusterEntry ?? {})
  const user = overUser(found.user, overrides.userEntry ?? {})
  const { server = '' } = cluster
  if (server === '') throw new ConfigError(explainMissing())
  checkCluster(cluster, clusterName)
  checkUser(user, userName)
  return {
    context,
    cluster: { ...cluster, server },
    user,
    userName,
    namespace: overrides.namespace || found.namespace || undefined,
    impersonate: impersonationOf(user),
  }
}

function contextOf(config: ClientConfig, name: string, isWanted: boolean): ContextEntry {
  if (name === '') return {}
  const context = config.contexts.get(name)
  if (context === undefined && (isWanted || config.contexts.size > 0 || config.clusters.size > 0)) {
    const others = [...config.contexts.keys()]
    throw new ConfigError(`context ${JSON.stringify(name)} does not exist${others.length === 0 ? '' : `; there are ${others.join(', ')}`}`)
  }
  return context ?? {}
}

function entryOf<T extends object>(entries: ReadonlyMap<string, T>, what: string, name: string, context: string): T | Record<never, never> {
  if (name === '') return {}
  const entry = entries.get(name)
  if (entry !== undefined) return entry
  throw new ConfigError(`${what} ${JSON.stringify(name)}${context === '' ? '' : ` of context ${JSON.stringify(context)}`} does not exist`)
}

/** Whom to trust is said as a whole, and the name in the certificate belongs to the server: with another of them the ones of the file do not count. */
function overCluster(entry: ClusterEntry, over: ClusterEntry): ClusterEntry {
  const { 'insecure-skip-tls-verify': isInsecure, 'certificate-authority': file, 'certificate-authority-data': data } = over
  const { 'insecure-skip-tls-verify': _, 'certificate-authority': _1, 'certificate-authority-data': _2, ...untrusting } = entry
  const trusted = isInsecure === true || isSaid(file) || isSaid(data) ? untrusting : entry
  const { 'tls-server-name': _3, ...elsewhere } = trusted
  return { ...(isSaid(over.server) ? elsewhere : trusted), ...over }
}

const isSaid = (text: string | undefined): boolean => text !== undefined && text !== ''

/**
 * Who is told another way to log in does not use those of the file: a token beside a password would be two of them. A certificate counts instead of
 * the one of the file, wherever that has it, and so does a key.
 */
function overUser(user: UserEntry, over: UserEntry): UserEntry {
  const { token: _, tokenFile: _1, username: _2, password: _3, exec: _4, 'auth-provider': _5, ...rest } = user
  const hasLogin = over.token !== undefined || over.tokenFile !== undefined || over.username !== undefined || over.exec !== undefined
  const { 'client-certificate': _6, 'client-certificate-data': _7, ...uncertified } = hasLogin ? rest : user
  const certified = isSaid(over['client-certificate']) || isSaid(over['client-certificate-data']) ? uncertified : hasLogin ? rest : user
  const { 'client-key': _8, 'client-key-data': _9, ...keyless } = certified
  return { ...(isSaid(over['client-key']) || isSaid(over['client-key-data']) ? keyless : certified), ...over }
}

function missingServer({ contexts, clusters, currentContext }: ClientConfig, context: string, cluster: string): string {
  if (cluster !== '') return `cluster ${JSON.stringify(cluster)} names no server`
  if (context !== '') return `context ${JSON.stringify(context)} names no cluster`
  if (contexts.size > 0 && currentContext === '') return `no context is chosen: there are ${[...contexts.keys()].join(', ')}`
  return clusters.size > 0 ? 'no cluster is chosen' : 'there is no client configuration, and so no server to talk to'
}

function checkCluster(cluster: ClusterEntry, name: string): void {
  const where = name === '' ? 'the cluster' : `cluster ${JSON.stringify(name)}`
  const hasCa = (cluster['certificate-authority'] ?? cluster['certificate-authority-data'] ?? '') !== ''
  if (cluster['insecure-skip-tls-verify'] === true && hasCa) {
    throw new ConfigError(`${where}: a certificate authority and insecure-skip-tls-verify contradict each other`)
  }
  const { server = '' } = cluster
  if (!URL.canParse(server.includes('://') ? server : `http://${server}`))
    throw new ConfigError(`${where}: server ${JSON.stringify(server)} is no address, such as https://127.0.0.1:6443`)
  const proxy = cluster['proxy-url'] ?? ''
  if (proxy !== '' && !(URL.canParse(proxy) && isProxyProtocol(new URL(proxy).protocol))) {
    throw new ConfigError(`${where}: proxy-url ${JSON.stringify(proxy)} is no address of the form http://, https:// or socks5://`)
  }
}

export const isProxyProtocol = (protocol: string): boolean => /^(?:https?|socks5h?):$/.test(protocol)

function checkUser(user: UserEntry, name: string): void {
  const where = name === '' ? 'the user' : `user ${JSON.stringify(name)}`
  const hasCert = (user['client-certificate'] ?? user['client-certificate-data'] ?? '') !== ''
  const hasKey = (user['client-key'] ?? user['client-key-data'] ?? '') !== ''
  if (hasCert !== hasKey)
    throw new ConfigError(
      `${where}: a client certificate and its key go together, and there is only ${hasCert ? 'the certificate' : 'the key'}`,
    )
  const hasToken = (user.token ?? user.tokenFile ?? '') !== ''
  const hasName = (user.username ?? '') !== ''
  if (hasToken && hasName) throw new ConfigError(`${where}: more than one way to log in, a token and a password; only one is allowed`)
  if (user['auth-provider'] !== undefined) throw new ConfigError(`${where}: auth-provider is not supported any more; use exec`)
  const isSomebody = (user.as ?? '') !== ''
  const hasMore =
    (user['as-groups'] ?? []).length > 0 || (user['as-uid'] ?? '') !== '' || Object.keys(user['as-user-extra'] ?? {}).length > 0
  if (hasMore && !isSomebody) throw new ConfigError(`${where}: as-uid, as-groups and as-user-extra need a user to act as`)
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
