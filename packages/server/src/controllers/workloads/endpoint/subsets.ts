// Subsets of Endpoints: addresses with the same ports together, in a canonical order, and at most 1,000 addresses.

import { createHash } from 'node:crypto'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { EndpointAddress, EndpointPort, EndpointSubset, Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { isReadyPod } from '../kit/pod-state.js'
import { hostnameOf, isEndpointPod, podIpOf, primaryFamilyOf, referenceOf, targetPortOf } from './service-pods.js'

/** Maximum number of addresses of Endpoints. */
export const maxAddresses = 1000

interface Grouped {
  readonly address: EndpointAddress
  readonly isReady: boolean
}

interface PortGroup {
  readonly port: EndpointPort | undefined
  readonly addresses: Map<string, Grouped>
}

export function subsetsOf(service: Service, pods: readonly Pod[]): readonly EndpointSubset[] {
  const { ports = [], clusterIP, publishNotReadyAddresses = false } = service.spec ?? {}
  const groups = new Map<string, PortGroup>()
  for (const pod of pods) {
    const ip = isEndpointPod(pod, publishNotReadyAddresses) ? podIpOf(pod, primaryFamilyOf(service, pod)) : undefined
    if (ip === undefined) continue
    const hostname = hostnameOf(pod, service)
    const address: EndpointAddress = {
      ip,
      ...(hostname === undefined ? {} : { hostname }),
      nodeName: pod.spec?.nodeName ?? '',
      targetRef: referenceOf(pod),
    }
    const isReady = publishNotReadyAddresses || isReadyPod(pod)
    for (const port of ports.length === 0 && clusterIP === 'None' ? [undefined] : endpointPortsOf(service, pod))
      getOrInsert(groups, textOfPort(port), () => ({ port, addresses: new Map() })).addresses.set(keyOf(address), { address, isReady })
  }
  return repack([...groups.values()])
}

function endpointPortsOf({ spec }: Service, pod: Pod): readonly EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort) => {
    const port = targetPortOf(pod, servicePort)
    const { name = '', protocol = 'TCP', appProtocol } = servicePort
    if (port === undefined) return []
    return { ...(name === '' ? {} : { name }), port, protocol, ...(appProtocol == null ? {} : { appProtocol }) }
  })
}

const keyOf = ({ ip = '', targetRef }: EndpointAddress): string => `${ip} ${targetRef?.uid ?? ''}`
const textOfPort = (port: EndpointPort | undefined): string =>
  port === undefined ? '' : [port.name ?? '', port.protocol, port.port, port.appProtocol ?? ''].join(' ')

/** Ports with the same addresses make one subset. */
function repack(groups: readonly PortGroup[]): readonly EndpointSubset[] {
  const bySet = new Map<string, { readonly ports: PortGroup[]; readonly sorted: readonly Grouped[] }>()
  for (const group of groups.toSorted((a, b) => compareText(textOfPort(a.port), textOfPort(b.port)))) {
    const sorted = [...group.addresses.values()].sort(compareAddresses)
    const text = sorted.map(({ address, isReady }) => `${keyOf(address)} ${isReady}`).join()
    getOrInsert(bySet, text, () => ({ ports: [], sorted })).ports.push(group)
  }
  return Array.from(bySet.values(), ({ ports, sorted }) => {
    const some = sortedByHash(ports.flatMap(({ port }) => port ?? []))
    return {
      ...listOf(
        'addresses',
        sorted.filter(({ isReady }) => isReady).map(({ address }) => address),
      ),
      ...listOf(
        'notReadyAddresses',
        sorted.filter(({ isReady }) => !isReady).map(({ address }) => address),
      ),
      ...listOf('ports', some),
    }
  })
}

/** Stored objects have no empty lists. */
const listOf = <K extends string, T>(name: K, list: readonly T[]): { readonly [_ in K]?: readonly T[] } =>
  (list.length === 0 ? {} : { [name]: list }) as { readonly [_ in K]?: readonly T[] }

/** By the text of the address, as in kube-controller-manager: `10.0.0.10` comes before `10.0.0.9`. */
const compareAddresses = ({ address: a }: Grouped, { address: b }: Grouped): number =>
  compareText(a.ip ?? '', b.ip ?? '') || compareText(a.targetRef?.uid ?? '', b.targetRef?.uid ?? '')

/** The order of kube-controller-manager: by a hash of the Go value of each port. */
function sortedByHash(ports: readonly EndpointPort[]): readonly EndpointPort[] {
  if (ports.length < 2) return ports
  const hashed = ports.map((endpointPort) => {
    const { name = '', port, protocol, appProtocol = '<nil>' } = endpointPort
    const fields = `Name:(string)${name} Port:(int32)${port} Protocol:(v1.Protocol)${protocol} AppProtocol:(*string)${appProtocol}`
    return { endpointPort, hash: createHash('md5').update(`(v1.EndpointPort){${fields}}`).digest('hex') }
  })
  return hashed.sort((a, b) => compareText(a.hash, b.hash)).map(({ endpointPort }) => endpointPort)
}

export const countAddresses = (subsets: readonly EndpointSubset[]): number =>
  subsets.reduce((sum, { addresses = [], notReadyAddresses = [] }) => sum + addresses.length + notReadyAddresses.length, 0)

/**
 * The subsets with at most `maxAddresses` addresses; undefined if they have no more. Ready addresses come first; every subset keeps its
 * share.
 */
export function truncate(subsets: readonly EndpointSubset[]): readonly EndpointSubset[] | undefined {
  const total = countAddresses(subsets)
  if (total <= maxAddresses) return undefined
  const ready = subsets.reduce((sum, { addresses = [] }) => sum + addresses.length, 0)
  const cutsReady = ready > maxAddresses
  const [max, all] = cutsReady ? [maxAddresses, ready] : [maxAddresses - ready, total - ready]
  let left = max
  return subsets.map((subset) => {
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset
    const cut = cutsReady ? addresses : notReadyAddresses
    const count = Math.min(left, Math.ceil((cut.length / all) * max))
    left -= count
    return {
      ...listOf('addresses', cutsReady ? addresses.slice(0, count) : addresses),
      ...listOf('notReadyAddresses', cutsReady ? [] : notReadyAddresses.slice(0, count)),
      ...listOf('ports', ports),
    }
  })
}
