// The server that the flags and the configuration name, as the user that they name; made when a command first needs it.

import { readFileSync } from 'node:fs'
import { Client } from '../client/client.js'
import type { ConnectionOverrides } from '../client/config/choose-connection.js'
import type { ClusterEntry, UserEntry } from '../client/config/config-entries.js'
import { findConnection, settingsFor } from '../client/node/connect.js'
import type { HttpTransport } from '../client/node/http-transport.js'
import type { Transport } from '../client/transport.js'
import { durationMs, type FlagValues } from './flags.js'
import { Resources } from './resources.js'
import type { usualFlags } from './usual-flags.js'

type UsualFlags = FlagValues<typeof usualFlags>

export const fieldManager = 'clusterctl'

/** Puts itself around what carries requests to a server. */
export type TransportWrap = (transport: Transport, server: string) => Transport

export class Session {
  readonly flags: UsualFlags
  private readonly onWarning: (text: string) => void
  private made:
    | { readonly client: Client; readonly namespace: string; readonly resources: Resources; readonly transport: HttpTransport }
    | undefined
  private readonly wrap: TransportWrap | undefined
  warnings = 0

  constructor(flags: UsualFlags, onWarning: (text: string) => void, wrap?: TransportWrap) {
    this.flags = flags
    this.onWarning = onWarning
    this.wrap = wrap
  }

  get client(): Client {
    return this.make().client
  }

  /** The one that was chosen, by flag or by configuration. */
  get namespace(): string {
    return this.make().namespace
  }

  get resources(): Resources {
    return this.make().resources
  }

  /** What carries the requests of the client. */
  get transport(): HttpTransport {
    return this.make().transport
  }

  close(): void {
    this.made?.client.close()
  }

  private make(): NonNullable<Session['made']> {
    if (this.made !== undefined) return this.made
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
    const mark = `${cluster.server} ${cluster['certificate-authority-data'] ?? cluster['certificate-authority'] ?? ''}`
    const resources = new Resources(client, { mark, folder: this.flags['cache-dir'] })
    this.made = { client, namespace: connection.namespace ?? 'default', resources, transport: settings.transport }
    return this.made
  }
}

function overridesOf(flags: UsualFlags): ConnectionOverrides {
  const authority = flags['certificate-authority']
  const clusterEntry: ClusterEntry = {
    ...(flags.server === undefined ? {} : { server: flags.server }),
    ...(authority === undefined ? {} : { 'certificate-authority-data': readFileSync(authority).toString('base64') }),
    // Whoever trusts anybody needs no authority.
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
