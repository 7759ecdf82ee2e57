// Outbound connections: egress proxies by destination, and counters of insecure certificates.

import { readFileSync } from 'node:fs'
import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { type ConnectProxyAddress, type Dial, dialThrough } from '../net/outbound/http-connect-tunnel.js'
import type { RefuseWebhook, WebhookDials } from '../net/outbound/webhook-dial.js'
import { CertificateCounter } from '../net/tls/certificate-flaws.js'
import { flagError } from '../options/flags/flag.js'
import type { EgressName, ProxySettings } from '../options/read-egress.js'
import type { Settings } from '../options/settings.js'

export interface Outbound {
  /** Counts certificate flaws of webhooks. */
  readonly webhooks: CertificateCounter
  /** Counts certificate flaws of extension API servers. */
  readonly extensions: CertificateCounter
  /** Connects to nodes, pods and services; undefined: without a proxy. */
  readonly cluster: Dial | undefined
  /** Connects to webhooks that are not services of the cluster, and to OIDC issuers; undefined: without a proxy. */
  readonly controlPlane: Dial | undefined
  /** Undefined without a test kit. */
  readonly refuse: RefuseWebhook | undefined
}

export const createOutbound = (settings: Pick<Settings, 'egress'>, refuse: RefuseWebhook | undefined): Outbound => ({
  webhooks: new CertificateCounter(),
  extensions: new CertificateCounter(),
  cluster: dialTo(settings, 'cluster'),
  controlPlane: dialTo(settings, 'controlplane'),
  refuse,
})

export const webhookDials = ({ webhooks, cluster, controlPlane, refuse }: Outbound): WebhookDials => ({
  counter: webhooks,
  toServices: cluster,
  toAddresses: controlPlane,
  refuse,
})

export function dialTo({ egress }: Pick<Settings, 'egress'>, name: EgressName): Dial | undefined {
  const proxy = egress[name]
  return proxy && dialThrough(proxyAddress(proxy, name))
}

function proxyAddress(proxy: ProxySettings, name: EgressName): ConnectProxyAddress {
  if (proxy.kind === 'unix' || proxy.tls === undefined) return { ...proxy, tls: undefined } as ConnectProxyAddress
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8')
    } catch (thrown) {
      throw flagError('egress-selector-config-file', `${name}: ${errorMessage(thrown)}`)
    }
  }
  const { caFile, certFile, keyFile } = proxy.tls
  return { ...proxy, tls: { ca: caFile === undefined ? undefined : read(caFile), cert: read(certFile), key: read(keyFile) } }
}
