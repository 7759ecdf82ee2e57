// The way in for programs on Node: a client for the server that the configuration names.

import { type OptionNames, refuseUnknownOptions } from '../../base/known-options.js'
import type { ClientSettings } from '../client.js'
import { type ChosenConnection, type ConnectionOverrides, chooseConnection, overrideConnection } from '../config/choose-connection.js'
import type { ClientConfig } from '../config/config-entries.js'
import { readConfigText } from '../config/config-entries.js'
import { sharedClientNames } from '../option-names.js'
import { makeTypedClient, type TypedClient } from '../typed/typed-client.js'
import { authorityOf, credentialsOf } from './credentials.js'
import { environmentProxy } from './environment-proxy.js'
import { HttpTransport } from './http-transport.js'
import { inClusterConnection } from './in-cluster.js'
import { type ConfigLocation, loadConfig } from './load-config.js'

/** What the caller says of a client, whichever server it is for. */
export type SharedSettings = Omit<ClientSettings, 'transport' | 'credentials'>

export interface ConnectOptions extends ConnectionOverrides, ConfigLocation, Omit<SharedSettings, 'namespace'> {
  /** The text of a configuration, instead of files. */
  readonly text?: string | undefined
  /** A configuration that was read already, instead of files. */
  readonly config?: ClientConfig | undefined
}

const names: OptionNames<ConnectOptions> = {
  file: true,
  text: true,
  config: true,
  environment: true,
  context: true,
  cluster: true,
  user: true,
  clusterEntry: true,
  userEntry: true,
  ...sharedClientNames,
}

/** Reads the configuration, and makes a client of it; nothing is sent yet. Without any configuration, that of the pod we run in. */
export function connect(options: ConnectOptions = {}): TypedClient {
  const connection = findConnection(options)
  const isShared = ([name, value]: [string, unknown]): boolean => value !== undefined && Object.hasOwn(sharedClientNames, name)
  const shared: SharedSettings = Object.fromEntries(Object.entries(options).filter(isShared))
  return connectTo(connection, { ...shared, namespace: connection.namespace })
}

/** Server, user and namespace as the files and the caller say. Throws a ConfigError where they do not. */
export function findConnection(given: ConnectOptions = {}): ChosenConnection {
  refuseUnknownOptions('connect', given, names)
  const { text, config, ...options } = given
  const known =
    config ??
    (text === undefined ? loadConfig({ file: options.file, environment: options.environment }) : readConfigText(text, 'the configuration'))
  const isEmpty = known.contexts.size === 0 && known.clusters.size === 0 && options.clusterEntry?.server === undefined
  if (isEmpty && (options.context ?? '') === '') {
    const inCluster = inClusterConnection({ environment: options.environment })
    if (inCluster !== undefined) return overrideConnection(inCluster, options)
  }
  return chooseConnection(known, options)
}

export function connectTo(connection: ChosenConnection, options: SharedSettings = {}): TypedClient {
  return makeTypedClient(settingsFor(connection, options))
}

/** Everything that a client needs to reach the server as that user. */
export function settingsFor(
  connection: ChosenConnection,
  options: SharedSettings = {},
): ClientSettings & { readonly transport: HttpTransport } {
  refuseUnknownOptions('connectTo', options, sharedClientNames)
  const { cluster, namespace, impersonate } = connection
  const ca = authorityOf(connection)
  const transport = new HttpTransport({
    server: withScheme(connection),
    tls: { ca, insecure: cluster['insecure-skip-tls-verify'], serverName: cluster['tls-server-name'] },
    proxyUrl: cluster['proxy-url'] || environmentProxy(withScheme(connection)),
  })
  return {
    namespace,
    impersonate,
    userAgent: 'cluster-apiserver-client',
    ...options,
    transport,
    credentials: credentialsOf(connection, ca),
  }
}

/** Who says how to trust the server, or has a certificate for it, means TLS, as clients of the original understand it. */
function withScheme({ cluster, user }: ChosenConnection): string {
  if (cluster.server.includes('://')) return cluster.server
  const certificates = [cluster['certificate-authority'], cluster['certificate-authority-data'], user['client-certificate']]
  const isTls = cluster['insecure-skip-tls-verify'] === true || [...certificates, user['client-certificate-data']].some(Boolean)
  return `${isTls ? 'https' : 'http'}://${cluster.server}`
}
