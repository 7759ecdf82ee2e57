// The backends of CONNECT subresources: kubelets, pods and services, with their limits and counters.

import type { Upstream } from '../../net/proxy/upstream.js'
import type { Location, Trust } from '../../verbs/virtual/virtual-resource-types.js'
import { backendUrl } from './backend-url.js'
import type { ForwardingLimit } from './forward-request.js'

export interface Backends {
  readonly upstreams: { readonly [Name in Trust]: Upstream }
  readonly limit: ForwardingLimit
  /** Rate limit of an upgraded connection in each direction; undefined: none. */
  readonly bytesPerSecond?: number | undefined
  readonly logCounters?: LogCounters
  readonly simulated?: SimulatedBackends | undefined
}

/** The connection to a simulated kubelet or a pod on its node; undefined for other locations. */
export type SimulatedBackends = (location: Location) => Upstream | undefined

interface Backend {
  readonly upstream: Upstream
  readonly url: URL
}

export function backendOf({ upstreams, simulated }: Backends, location: Location): Backend {
  const url = backendUrl(location)
  const upstream = simulated?.(location)
  if (upstream === undefined) return { upstream: upstreams[location.trust], url }
  // Connections within the process have no TLS.
  return { upstream, url: new URL(`http://${url.host}`) }
}

export interface LogCounters {
  /** `isVerified`: the kubelet's certificate is verified. */
  count(isVerified: boolean): void
  countTlsFailure(): void
}
