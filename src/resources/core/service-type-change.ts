// What becomes of a service's fields when its type changes: those that the new type has no use for go.

import { hasInternalTraffic, needsAddress, needsHealthPort, usesNodePorts } from './service-needs.js'
import type { ServiceSpec } from './v1.schema.js'

/** Whether two services agree in a field, where absence and emptiness are one. */
const agree = (next: ServiceSpec, old: ServiceSpec, name: keyof ServiceSpec): boolean =>
  JSON.stringify(next[name] ?? null) === JSON.stringify(old[name] ?? null)

/**
 * On a change of type, what the new type has no use for goes, if the client left it as it was. What the client changed at the same
 * time stays, and is refused by the rules.
 */
export function withoutUnneeded(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const gone: (keyof ServiceSpec)[] = []
  const drop = (wasNeeded: boolean, isNeeded: boolean, ...names: readonly (keyof ServiceSpec)[]): void => {
    if (wasNeeded && !isNeeded && names.every((name) => agree(next, old, name))) gone.push(...names)
  }
  drop(needsAddress(old), needsAddress(next), 'clusterIP', 'clusterIPs')
  drop(needsAddress(old), needsAddress(next), 'ipFamilies')
  drop(needsAddress(old), needsAddress(next), 'ipFamilyPolicy')
  drop(needsHealthPort(old), needsHealthPort(next), 'healthCheckNodePort')
  drop(isBalancer(old), isBalancer(next), 'allocateLoadBalancerNodePorts')
  drop(isBalancer(old), isBalancer(next), 'loadBalancerClass')
  drop(usesNodePorts(old), usesNodePorts(next), 'externalTrafficPolicy')
  drop(hasInternalTraffic(old), hasInternalTraffic(next), 'internalTrafficPolicy')
  const kept =
    gone.length === 0 ? next : (Object.fromEntries(Object.entries(next).filter(([name]) => !gone.includes(name as never))) as ServiceSpec)
  return usesNodePorts(old) && !usesNodePorts(next) ? withoutNodePorts(kept, old) : kept
}

const isBalancer = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'

/** Node ports go unless one of them is new. */
function withoutNodePorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const known = new Set((old.ports ?? []).map(({ nodePort = 0 }) => nodePort))
  const ports = spec.ports ?? []
  if (ports.some(({ nodePort = 0 }) => nodePort !== 0 && !known.has(nodePort))) return spec
  if (ports.every(({ nodePort = 0 }) => nodePort === 0)) return spec
  return { ...spec, ports: ports.map(({ nodePort, ...port }) => port) }
}
