// How this server goes out to others, directly or through proxies, and what is counted of them.

import { readFileSync } from 'node:fs'
import type { HookWays } from '../net/hook-ways.js'
import { CertificateTally } from '../net/shown-certificate.js'
import { type Dial, dialThrough, type ProxyPlace } from '../net/tunnel.js'
import type { EgressName, ProxySettings } from './options/read-egress.js'
import type { Settings } from './options/settings.js'
import { StartError } from './start-failure.js'

export interface Outbound {
  /** What webhooks of all sorts show of themselves. */
  readonly webhooks: CertificateTally
  /** What extension servers do. */
  readonly extensions: CertificateTally
  /** To nodes, pods and services. Undefined: directly. */
  readonly cluster: Dial | undefined
  /** To what stands beside this server, such as those who know tokens. */
  readonly controlPlane: Dial | undefined
}

export const openOutbound = (settings: Pick<Settings, 'egress'>): Outbound => ({
  webhooks: new CertificateTally(),
  extensions: new CertificateTally(),
  cluster: dialTo(settings, 'cluster'),
  controlPlane: dialTo(settings, 'controlplane'),
})

/** To webhooks of admission and conversion. */
export const hookWays = ({ webhooks, cluster, controlPlane }: Outbound): HookWays => ({
  tally: webhooks,
  toServices: cluster,
  toAddresses: controlPlane,
})

/** Undefined: directly. */
export function dialTo({ egress }: Pick<Settings, 'egress'>, name: EgressName): Dial | undefined {
  const proxy = egress[name]
  return proxy && dialThrough(placeOf(proxy, name))
}

function placeOf(proxy: ProxySettings, name: EgressName): ProxyPlace {
  if (proxy.kind === 'unix' || proxy.tls === undefined) return { ...proxy, tls: undefined } as ProxyPlace
  const read = (path: string): string => {
    try {
      return readFileSync(path, 'utf8')
    } catch (thrown) {
      throw new StartError(`--egress-selector-config-file: ${name}: ${thrown instanceof Error ? thrown.message : thrown}`)
    }
  }
  const { caFile, certFile, keyFile } = proxy.tls
  return { ...proxy, tls: { ca: caFile === undefined ? undefined : read(caFile), cert: read(certFile), key: read(keyFile) } }
}
