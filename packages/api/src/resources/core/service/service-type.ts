// Fields that a Service has, by its type: cluster IP, node ports, health check port, internal traffic policy.

import type { ServiceSpec } from '../v1.schema.js'

export const headless = 'None'

export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean => clusterIPs.length === 1 && clusterIPs[0] === headless

/** Headless Services have the address `None`. */
export const needsAddress = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'

export const usesNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

export const getsNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)

/** With externalTrafficPolicy Local, load balancers probe each node. */
export const needsHealthPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

export const hasInternalTraffic = (spec: ServiceSpec): boolean => spec.type === 'ClusterIP' || usesNodePorts(spec)
