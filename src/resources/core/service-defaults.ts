// What a service has when it does not say: a type, protocols and target ports, affinity and policies of traffic.

import { hasInternalTraffic, usesNodePorts } from './service-needs.js'
import type { Service, ServicePort, ServiceSpec } from './v1.schema.js'

const affinitySeconds = 10800

export function withServiceDefaults(service: Service): Service {
  const spec = withPolicies(withAffinity(withPorts(withType(service.spec ?? {}))))
  return spec === service.spec ? service : { ...service, spec }
}

const withType = (spec: ServiceSpec): ServiceSpec => ((spec.type ?? '') === '' ? { ...spec, type: 'ClusterIP' } : spec)

function withPorts(spec: ServiceSpec): ServiceSpec {
  const isComplete = (spec.ports ?? []).every((port) => withPortDefaults(port) === port)
  return isComplete || spec.ports === undefined ? spec : { ...spec, ports: spec.ports.map(withPortDefaults) }
}

function withPortDefaults(port: ServicePort): ServicePort {
  const { protocol = '', targetPort } = port
  const hasTarget = targetPort !== undefined && targetPort !== '' && (targetPort !== 0 || (port.port ?? 0) === 0)
  if (protocol !== '' && hasTarget) return port
  return { ...port, protocol: protocol === '' ? 'TCP' : protocol, targetPort: hasTarget ? targetPort : (port.port ?? 0) }
}

/** Only affinity to the client's address has something to configure: how long it lasts. */
function withAffinity(spec: ServiceSpec): ServiceSpec {
  const affinity = (spec.sessionAffinity ?? '') === '' ? 'None' : spec.sessionAffinity
  const named = affinity === spec.sessionAffinity || affinity === undefined ? spec : { ...spec, sessionAffinity: affinity }
  if (affinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    return { ...named, sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }
  }
  if (affinity !== 'None' || spec.sessionAffinityConfig === undefined) return named
  const { sessionAffinityConfig, ...rest } = named
  return rest
}

function withPolicies(spec: ServiceSpec): ServiceSpec {
  const added: { -readonly [Name in keyof ServiceSpec]: ServiceSpec[Name] } = {}
  if (usesNodePorts(spec) && (spec.externalTrafficPolicy ?? '') === '') added.externalTrafficPolicy = 'Cluster'
  if (hasInternalTraffic(spec) && spec.internalTrafficPolicy === undefined) added.internalTrafficPolicy = 'Cluster'
  if (spec.type === 'LoadBalancer' && spec.allocateLoadBalancerNodePorts === undefined) added.allocateLoadBalancerNodePorts = true
  for (const _ in added) return { ...spec, ...added }
  return spec
}
