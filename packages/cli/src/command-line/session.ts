// Session of a command: client, namespace and discovery cache for the selected context, created on first use.

import { readFileSync } from 'node:fs'
import { Client } from '@cluster-apiserver/client/client.js'
import type { ConnectionOverrides } from '@cluster-apiserver/client/config/choose-connection.js'
import type { ClusterEntry, UserEntry } from '@cluster-apiserver/client/config/kubeconfig.js'
import { findConnection, settingsFor } from '@cluster-apiserver/client/node/connect.js'
import type { HttpTransport } from '@cluster-apiserver/client/node/http-transport.js'
import type { Transport } from '@cluster-apiserver/client/transport/transport.js'
import { DiscoveryCache } from './discovery-cache.js'
import { durationMs, type FlagValues } from './flags.js'
import type { globalFlags } from './global-flags.js'

type GlobalFlags = FlagValues<typeof globalFlags>

const fieldManager = 'clusterctl'

export type TransportWrap = (transport: Transport, server: string) => Transport

export class Session {
  readonly flags: GlobalFlags
  private readonly onWarning: (text: string) => void
  private opened:
    | { readonly client: Client; readonly namespace: string; readonly resources: DiscoveryCache; readonly transport: HttpTransport }
    | undefined
  private readonly wrap: TransportWrap | undefined
  warnings = 0

  constructor(flags: GlobalFlags, onWarning: (text: string) => void, wrap?: TransportWrap) {
    this.flags = flags
    this.onWarning = onWarning
    this.wrap = wrap
  }

  get client(): Client {
    return this.open().client
  }

  get namespace(): string {
    return this.open().namespace
  }

  get resources(): DiscoveryCache {
    return this.open().resources
  }

  get transport(): HttpTransport {
    return this.open().transport
  }

  close(): void {
    this.opened?.client.close()
  }

  private open(): NonNullable<Session['opened']> {
    if (this.opened !== undefined) return this.opened
    const connection = findConnection({ file: this.flags.kubeconfig, ...overridesOf(this.flags) })
    const timeoutMs = durationMs('request-timeout', this.flags['request-timeout'] ?? '0')
    const settings = settingsFor(connection, {
      userAgent: fieldManager,
      namespace: connection.namespace,
      impersonate: connection.impersonate,
      ...(timeoutMs > 0 ? { timeoutMs } : {}),
      onWarning: ({ text }) => {
        this.warnings += 1
        this.onWarning(text)
      },
    })
    const { wrap } = this
    const client = new Client(
      wrap === undefined ? settings : { ...settings, transport: wrap(settings.transport, connection.cluster.server) },
    )
    const { cluster } = connection
    const cacheKey = `${cluster.server} ${cluster['certificate-authority-data'] ?? cluster['certificate-authority'] ?? ''}`
    const resources = new DiscoveryCache(client, { cacheKey, folder: this.flags['cache-dir'] })
    this.opened = { client, namespace: connection.namespace ?? 'default', resources, transport: settings.transport }
    return this.opened
  }
}

function overridesOf(flags: GlobalFlags): ConnectionOverrides {
  const authority = flags['certificate-authority']
  const clusterEntry: ClusterEntry = {
    ...(flags.server === undefined ? {} : { server: flags.server }),
    ...(authority === undefined ? {} : { 'certificate-authority-data': readFileSync(authority).toString('base64') }),
    ...(flags['insecure-skip-tls-verify']
      ? { 'insecure-skip-tls-verify': true, 'certificate-authority': '', 'certificate-authority-data': '' }
      : {}),
    ...(flags['tls-server-name'] === undefined ? {} : { 'tls-server-name': flags['tls-server-name'] }),
  }
  const userEntry: UserEntry = {
    ...(flags.token === undefined ? {} : { token: flags.token }),
    ...(flags.username === undefined ? {} : { username: flags.username }),
    ...(flags.password === undefined ? {} : { password: flags.password }),
    ...(flags['client-certificate'] === undefined ? {} : { 'client-certificate': flags['client-certificate'] }),
    ...(flags['client-key'] === undefined ? {} : { 'client-key': flags['client-key'] }),
    ...(flags.as === undefined ? {} : { as: flags.as }),
    ...(flags['as-uid'] === undefined ? {} : { 'as-uid': flags['as-uid'] }),
    ...(flags['as-group'].length === 0 ? {} : { 'as-groups': flags['as-group'] }),
  }
  return {
    context: flags.context,
    cluster: flags.cluster,
    user: flags.user,
    namespace: flags.namespace,
    ...(Object.keys(clusterEntry).length === 0 ? {} : { clusterEntry }),
    ...(Object.keys(userEntry).length === 0 ? {} : { userEntry }),
  }
}
