// Pods of a Service as endpoints: membership, addresses, ports, host name. Shared by the controllers of Endpoints and EndpointSlices.

import { familyOf, type IpFamily } from '@cluster-apiserver/api/api/validation/network/ip-text.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Pod, Service, ServicePort } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isFinishedPod, isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'

const podIps = ({ status }: Pod): readonly string[] => {
  const ips = (status?.podIPs ?? []).flatMap(({ ip }) => (ip === undefined || ip === '' ? [] : ip))
  return ips.length > 0 || status?.podIP === undefined || status.podIP === '' ? ips : [status.podIP]
}

export const isEndpointPod = (pod: Pod, includesTerminating: boolean): boolean =>
  !isFinishedPod(pod) && podIps(pod).length > 0 && (includesTerminating || !isTerminating(pod))

export const podIpOf = (pod: Pod, family: IpFamily): string | undefined => podIps(pod).find((ip) => familyOf(ip) === family)

export const isHeadless = ({ spec }: Service): boolean =>
  spec?.clusterIP === undefined || spec.clusterIP === '' || spec.clusterIP === 'None'

/** Services without a selector and external names get no endpoints from the controllers. */
export const hasPods = ({ spec }: Service): boolean =>
  spec?.type !== 'ExternalName' && spec?.selector !== undefined && Object.keys(spec.selector).length > 0

/** The IP families of the slices of a Service. A headless Service without families gets both. */
export function familiesOf({ spec }: Service): readonly IpFamily[] {
  const families = (spec?.ipFamilies ?? []).filter((family): family is IpFamily => family === 'IPv4' || family === 'IPv6')
  if (families.length > 0) return families
  const family = familyOf(spec?.clusterIP ?? '')
  return family === undefined ? ['IPv4', 'IPv6'] : [family]
}

/** The IP family of the Endpoints of a Service: its first one. */
export function primaryFamilyOf(service: Service, pod: Pod): IpFamily {
  const [first] = service.spec?.ipFamilies ?? []
  if (first === 'IPv4' || first === 'IPv6') return first
  return familyOf(service.spec?.clusterIP ?? '') ?? familyOf(podIps(pod)[0] ?? '') ?? 'IPv4'
}

/** DNS publishes host names of pods whose subdomain is the Service. */
export const hostnameOf = ({ metadata, spec }: Pod, service: Service): string | undefined =>
  spec?.hostname !== undefined &&
  spec.hostname !== '' &&
  spec.subdomain === service.metadata?.name &&
  metadata?.namespace === service.metadata?.namespace
    ? spec.hostname
    : undefined

/** Port number of a pod; undefined if no container has a port of that name and protocol. */
export function targetPortOf({ spec }: Pod, { targetPort, port, protocol = 'TCP' }: ServicePort): number | undefined {
  if (typeof targetPort !== 'string') return targetPort === undefined || targetPort === 0 ? port : targetPort
  for (const { ports = [] } of spec?.containers ?? [])
    for (const named of ports) if (named.name === targetPort && (named.protocol ?? 'TCP') === protocol) return named.containerPort
  return undefined
}

export const referenceOf = ({ metadata }: Pod) => ({
  kind: 'Pod',
  namespace: metadata?.namespace ?? '',
  name: metadata?.name ?? '',
  uid: metadata?.uid ?? '',
})

/** True if an update of a pod, with the same labels, changes its endpoints. */
export const changesEndpoint = (before: Pod, after: Pod): boolean => !sameValue(endpointStateOf(before), endpointStateOf(after))

const endpointStateOf = (pod: Pod) => [
  pod.metadata?.uid,
  isTerminating(pod),
  isFinishedPod(pod),
  isReadyPod(pod),
  podIps(pod),
  pod.spec?.nodeName ?? '',
  pod.spec?.hostname ?? '',
  pod.spec?.subdomain ?? '',
]
