// Service: defaults, fields dropped on a change of type, printer columns. Cluster IPs and node ports are allocated before.

import { defineResource } from '../../../api/definition/resource-definition.js'
import { dns1035LabelProblems } from '../../../api/validation/checks.js'
import { ageColumn, nameColumn, tableOf, textColumn } from '../../printer-columns.js'
import { statusSubresource } from '../../status-subresource.js'
import { type Service, type ServicePort, type ServiceSpec, service as schema, serviceProxyOptions } from '../v1.schema.js'
import { describeLabels } from '../workload/workload.js'
import { proxySubresource } from './service-endpoint-address.js'
import { hasInternalTraffic, needsAddress, needsHealthPort, usesNodePorts } from './service-type.js'
import { describeBalancer, validateBalancerStatus, validateService, validateServiceChange } from './service-validation.js'

const affinitySeconds = 10800

function withServiceDefaults(service: Service): Service {
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

/** Defaults: affinity None, and a timeout for ClientIP. Drops the configuration of affinity None. */
function withAffinity(spec: ServiceSpec): ServiceSpec {
  const affinity = (spec.sessionAffinity ?? '') === '' ? 'None' : spec.sessionAffinity
  const withAffinityType = affinity === spec.sessionAffinity || affinity === undefined ? spec : { ...spec, sessionAffinity: affinity }
  if (affinity === 'ClientIP' && spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === undefined) {
    return { ...withAffinityType, sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } } }
  }
  if (affinity !== 'None' || spec.sessionAffinityConfig === undefined) return withAffinityType
  const { sessionAffinityConfig, ...rest } = withAffinityType
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

const none = '<none>'

function describeExternal({ spec = {}, status }: Service): string {
  const { externalIPs = [] } = spec
  switch (spec.type) {
    case 'ClusterIP':
    case 'NodePort':
      return externalIPs.length === 0 ? none : externalIPs.join(',')
    case 'LoadBalancer':
      return [...describeBalancer(status?.loadBalancer?.ingress), ...externalIPs].join(',') || '<pending>'
    case 'ExternalName':
      return spec.externalName ?? ''
    default:
      return '<unknown>'
  }
}

const describePort = ({ port = 0, nodePort = 0, protocol = '' }: ServicePort): string =>
  nodePort > 0 ? `${port}:${nodePort}/${protocol}` : `${port}/${protocol}`

const serviceTable = tableOf<Service>(
  nameColumn,
  textColumn('Type', 'Type of the service.', ({ spec }) => spec?.type ?? ''),
  textColumn('Cluster-IP', 'Internal IP address.', ({ spec }) => spec?.clusterIPs?.[0] ?? none),
  textColumn('External-IP', 'External IP addresses or external name.', describeExternal),
  textColumn(
    'Port(s)',
    'Ports, followed by a colon and the node port.',
    ({ spec }) => (spec?.ports ?? []).map(describePort).join(',') || none,
  ),
  ageColumn,
  textColumn('Selector', 'Labels of the pods.', ({ spec }) => describeLabels(spec?.selector), 1),
)

const isUnchanged = (next: ServiceSpec, old: ServiceSpec, name: keyof ServiceSpec): boolean =>
  JSON.stringify(next[name] ?? null) === JSON.stringify(old[name] ?? null)

/** On a change of type, drops fields of the old type that the client left unchanged; validation rejects changed ones. */
function withoutFieldsOfOldType(next: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const dropped: (keyof ServiceSpec)[] = []
  const drop = (wasNeeded: boolean, isNeeded: boolean, ...names: readonly (keyof ServiceSpec)[]): void => {
    if (wasNeeded && !isNeeded && names.every((name) => isUnchanged(next, old, name))) dropped.push(...names)
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
    dropped.length === 0
      ? next
      : (Object.fromEntries(Object.entries(next).filter(([name]) => !dropped.includes(name as never))) as ServiceSpec)
  return usesNodePorts(old) && !usesNodePorts(next) ? withoutNodePorts(kept, old) : kept
}

const isBalancer = ({ type }: ServiceSpec): boolean => type === 'LoadBalancer'

function withoutNodePorts(spec: ServiceSpec, old: ServiceSpec): ServiceSpec {
  const known = new Set((old.ports ?? []).map(({ nodePort = 0 }) => nodePort))
  const ports = spec.ports ?? []
  if (ports.some(({ nodePort = 0 }) => nodePort !== 0 && !known.has(nodePort))) return spec
  if (ports.every(({ nodePort = 0 }) => nodePort === 0)) return spec
  return { ...spec, ports: ports.map(({ nodePort, ...port }) => port) }
}

function prepareUpdate(next: Service, old: Service): Service {
  const spec = withoutFieldsOfOldType(next.spec ?? {}, old.spec ?? {})
  const status = old.status ?? { loadBalancer: {} }
  return { ...next, spec, status: spec.type === 'LoadBalancer' ? status : { ...status, loadBalancer: {} } }
}

export const service = defineResource<Service>({
  group: '',
  kind: 'Service',
  resource: 'services',
  shortNames: ['svc'],
  categories: ['all'],
  namespaced: true,
  versions: [{ name: 'v1', schema, stored: true }],
  nameProblems: dns1035LabelProblems,
  defaults: withServiceDefaults,
  prepareCreate: (service) => ({ ...service, status: { loadBalancer: {} } }),
  prepareUpdate,
  validate: validateService,
  validateUpdate: validateServiceChange,
  checks: { update: ['metadataChange', 'validateUpdate', 'metadata', 'validate'] },
  createOnUpdate: true,
  deleteReturnsObject: true,
  resetFields: ['status'],
  subresources: [
    proxySubresource('proxyToService', serviceProxyOptions),
    statusSubresource<Service>({
      validateUpdate: (next) => validateBalancerStatus(next.status?.loadBalancer?.ingress, 'status.loadBalancer'),
    }),
  ],
  table: serviceTable,
})
