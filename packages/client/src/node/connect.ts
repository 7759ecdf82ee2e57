// connect(): a typed client from a kubeconfig or the in-cluster configuration, for Node.js.

import { type OptionNames, refuseUnknownOptions } from '@cluster-apiserver/api/base/unknown-options.js'
import { type ClientSettings, sharedClientNames } from '../client.js'
import { type ChosenConnection, type ConnectionOverrides, chooseConnection, overrideConnection } from '../config/choose-connection.js'
import { type ClientConfig, readConfigText } from '../config/kubeconfig.js'
import { makeTypedClient, type TypedClient } from '../typed/typed-client.js'
import { caOf, credentialsOf } from './credentials.js'
import { HttpTransport } from './http-transport.js'
import { inClusterConnection } from './in-cluster.js'
import { type ConfigLocation, loadConfig } from './load-kubeconfig.js'
import { environmentProxy } from './proxy-environment.js'

type SharedSettings = Omit<ClientSettings, 'transport' | 'credentials'>

export interface ConnectOptions extends ConnectionOverrides, ConfigLocation, Omit<SharedSettings, 'namespace'> {
  /** YAML of a kubeconfig, instead of files. */
  readonly text?: string | undefined
  /** Parsed kubeconfig, instead of files. */
  readonly config?: ClientConfig | undefined
}

const optionNames: OptionNames<ConnectOptions> = {
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

/** Creates a client from the kubeconfig, or in-cluster if the kubeconfig has no clusters and contexts. Sends nothing. */
export function connect(options: ConnectOptions = {}): TypedClient {
  const connection = findConnection(options)
  const isShared = ([name, value]: [string, unknown]): boolean => value !== undefined && Object.hasOwn(sharedClientNames, name)
  const shared: SharedSettings = Object.fromEntries(Object.entries(options).filter(isShared))
  return connectTo(connection, { ...shared, namespace: connection.namespace })
}

/** Resolves server, user and namespace. Throws a ConfigError if no server is configured. */
export function findConnection(connectOptions: ConnectOptions = {}): ChosenConnection {
  refuseUnknownOptions('connect', connectOptions, optionNames)
  const { text, config, ...options } = connectOptions
  const kubeconfig =
    config ??
    (text === undefined ? loadConfig({ file: options.file, environment: options.environment }) : readConfigText(text, 'the configuration'))
  const isEmpty = kubeconfig.contexts.size === 0 && kubeconfig.clusters.size === 0 && options.clusterEntry?.server === undefined
  if (isEmpty && (options.context ?? '') === '') {
    const inCluster = inClusterConnection({ environment: options.environment })
    if (inCluster !== undefined) return overrideConnection(inCluster, options)
  }
  return chooseConnection(kubeconfig, options)
}

export function connectTo(connection: ChosenConnection, options: SharedSettings = {}): TypedClient {
  return makeTypedClient(settingsFor(connection, options))
}

export function settingsFor(
  connection: ChosenConnection,
  options: SharedSettings = {},
): ClientSettings & { readonly transport: HttpTransport } {
  refuseUnknownOptions('connectTo', options, sharedClientNames)
  const { cluster, namespace, impersonate } = connection
  const ca = caOf(connection)
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

/** A server without a scheme gets https if the configuration has TLS settings, else http, as in client-go. */
function withScheme({ cluster, user }: ChosenConnection): string {
  if (cluster.server.includes('://')) return cluster.server
  const certificates = [cluster['certificate-authority'], cluster['certificate-authority-data'], user['client-certificate']]
  const isTls = cluster['insecure-skip-tls-verify'] === true || [...certificates, user['client-certificate-data']].some(Boolean)
  return `${isTls ? 'https' : 'http'}://${cluster.server}`
}
