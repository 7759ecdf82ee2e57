// What a service needs besides its spec, by its type: addresses, node ports, a port for health checks, policies of traffic.

import type { ServiceSpec } from './v1.schema.js'

/** Stands for "no address": a service that is known by its name alone. */
export const headless = 'None'

export const isHeadless = ({ clusterIPs = [] }: ServiceSpec): boolean => clusterIPs.length === 1 && clusterIPs[0] === headless

/** Even a headless one has something in the place of the address. */
export const needsAddress = ({ type }: ServiceSpec): boolean => type !== 'ExternalName'

/** Whether the service is reached on ports of every node, be they given to it or chosen by its owner. */
export const usesNodePorts = ({ type }: ServiceSpec): boolean => type === 'NodePort' || type === 'LoadBalancer'

/** Whether ports that were not chosen are given to it. */
export const getsNodePorts = ({ type, allocateLoadBalancerNodePorts }: ServiceSpec): boolean =>
  type === 'NodePort' || (type === 'LoadBalancer' && allocateLoadBalancerNodePorts !== false)

/** Balancers that keep traffic on the node ask each node whether it has an endpoint. */
export const needsHealthPort = ({ type, externalTrafficPolicy }: ServiceSpec): boolean =>
  type === 'LoadBalancer' && externalTrafficPolicy === 'Local'

/** Whether traffic from within the cluster comes through the service at all, and not just by another name. */
export const hasInternalTraffic = (spec: ServiceSpec): boolean => spec.type === 'ClusterIP' || usesNodePorts(spec)
