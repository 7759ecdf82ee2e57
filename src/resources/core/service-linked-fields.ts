// What a client left out of a service that already has addresses and ports: it keeps them, and the two fields for addresses agree.

import { needsAddress, needsHealthPort, usesNodePorts } from './service-needs.js'
import type { ServiceSpec } from './v1.schema.js'

/** The spec as it is meant: with the values that it had, and with both address fields in step. */
export const withLinkedFields = (next: ServiceSpec, old: ServiceSpec | undefined): ServiceSpec =>
  old === undefined ? withPlural(next) : followSingular(withKeptValues(next, old), old)

/** Old clients know the singular field alone. */
const withPlural = (spec: ServiceSpec): ServiceSpec =>
  (spec.clusterIP ?? '') !== '' && (spec.clusterIPs ?? []).length === 0 ? { ...spec, clusterIPs: [spec.clusterIP ?? ''] } : spec

function withKeptValues(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  let spec = next
  if (needsAddress(old) && needsAddress(next)) spec = withKeptAddresses(spec, old)
  if (usesNodePorts(old) && usesNodePorts(next)) spec = withKeptNodePorts(spec, old)
  const keepsHealthPort = needsHealthPort(old) && needsHealthPort(next) && (spec.healthCheckNodePort ?? 0) === 0
  return keepsHealthPort && old.healthCheckNodePort !== undefined ? { ...spec, healthCheckNodePort: old.healthCheckNodePort } : spec
}

function withKeptAddresses(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const { clusterIP = '' } = old
  const first = (next.clusterIP ?? '') === '' && clusterIP !== '' ? { ...next, clusterIP } : next
  const isSame = (first.clusterIP ?? '') === clusterIP
  return isSame && (first.clusterIPs ?? []).length === 0 && old.clusterIPs !== undefined ? { ...first, clusterIPs: old.clusterIPs } : first
}

/** Ports are recognised by name. A port on the nodes that moved to another name is not given away twice. */
function withKeptNodePorts(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  if (!(next.ports ?? []).some(({ nodePort = 0 }) => nodePort === 0)) return next
  const byName = new Map((old.ports ?? []).map(({ name = '', nodePort = 0 }) => [name, nodePort]))
  const before = new Set(byName.values())
  const taken = new Set((next.ports ?? []).map(({ nodePort = 0 }) => nodePort).filter((port) => port !== 0 && before.has(port)))
  const ports = (next.ports ?? []).map((port) => {
    const nodePort = byName.get(port.name ?? '') ?? 0
    if ((port.nodePort ?? 0) !== 0 || nodePort === 0 || taken.has(nodePort)) return port
    taken.add(nodePort)
    return { ...port, nodePort }
  })
  return { ...next, ports }
}

const sameList = (a: readonly string[] = [], b: readonly string[] = []): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i])

/** Who changes only the singular field means both. Who changes only the plural one is told so by the rules. */
function followSingular(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const [after, before] = [next.clusterIP ?? '', old.clusterIP ?? '']
  if (after === before) {
    const isCleared = (old.clusterIPs ?? []).length > 0 && (next.clusterIPs ?? []).length === 0
    return isCleared && old.clusterIPs !== undefined ? { ...next, clusterIPs: old.clusterIPs } : next
  }
  if (!sameList(next.clusterIPs, old.clusterIPs)) return next
  if (after !== '') return { ...next, clusterIPs: [after] }
  const { clusterIPs, ...rest } = next
  return rest
}
