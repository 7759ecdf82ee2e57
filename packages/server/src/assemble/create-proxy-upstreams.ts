// Upstream connections of proxied requests: kubelets, pods and services.

import { lookup } from 'node:dns/promises'
import { PodLogCounters } from '../http/metrics/pod-log-metrics.js'
import type { Backends } from '../http/proxy/backends.js'
import { ForwardingLimit } from '../http/proxy/forward-request.js'
import { Upstream } from '../net/proxy/upstream.js'
import type { KeyPair } from '../net/tls/issue-certificate.js'
import { ReloadingCertificate } from '../net/tls/reloading-certificate.js'
import type { KubeletSettings } from '../options/settings.js'
import type { KubeletAddressing } from '../verbs/engine.js'
import type { Outbound } from './outbound.js'
import type { StartContext } from './start-context.js'

/** Maximum number of forwarded requests. Each uses two connections; the port accepts 10,000 in all. */
const maxForwarded = 4_000

export interface ProxyUpstreams extends Backends {
  readonly logCounters: PodLogCounters
}

export function createProxyUpstreams(
  { settings, logger, cleanup }: StartContext,
  { cluster: dial }: Pick<Outbound, 'cluster'>,
): ProxyUpstreams {
  const { ca, clientFiles, connectMs, bytesPerSecond } = settings.kubelets
  const limits = { connectMs: connectMs || defaultConnectMs }
  const onChange = (pair: KeyPair): void => {
    for (const upstream of [upstreams.kubelet, upstreams.unverifiedKubelet]) upstream.setClientCertificate(pair)
  }
  const reloading =
    clientFiles && new ReloadingCertificate(clientFiles, { logger, certificateName: 'client certificate for kubelets', onChange })
  const upstreams = {
    // Without --kubelet-certificate-authority the kubelet's certificate is not verified.
    kubelet: new Upstream({ ca, insecure: ca === undefined, ...reloading?.current, dial }, limits),
    unverifiedKubelet: new Upstream({ insecure: true, ...reloading?.current, dial }, limits),
    // Connections are never reused: a response must not reach another tenant.
    workload: new Upstream({ insecure: true, dial, neverReusesConnections: true }),
  }
  cleanup.add(() => reloading?.close())
  cleanup.add(() => {
    for (const upstream of Object.values(upstreams)) upstream.close()
  })
  return { upstreams, limit: new ForwardingLimit(maxForwarded), bytesPerSecond, logCounters: new PodLogCounters() }
}

const defaultConnectMs = 5_000

export const kubeletAddressing = ({ addressTypes }: KubeletSettings): KubeletAddressing => ({
  addressTypes,
  lookup: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
})
