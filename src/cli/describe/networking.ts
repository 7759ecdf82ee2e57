// Ways to pods and between them: ingresses, network policies, endpoints.

import type { EndpointSlice, Endpoints, Ingress, IngressClass, NetworkPolicy } from '../../client/typed/types.js'
import { createdEntry, labelEntries, selectorText, textOr } from './common.js'
import type { DescribeContext } from './context.js'
import { block, type Entry, grid, listOrNone, none } from './entry.js'
import { addressesOf } from './service.js'

type IngressSpec = NonNullable<Ingress['spec']>
type Backend = NonNullable<IngressSpec['defaultBackend']>

export async function describeIngress(object: Ingress, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status } = object
  const endpoints = await context.list<Endpoints>('endpoints', metadata?.namespace)
  const shown = (backend: Backend | undefined): string => (backend === undefined ? none : backendText(backend, endpoints))
  const rows = (spec.rules ?? []).flatMap(({ host, http }) =>
    (http?.paths ?? []).map(({ path = '', backend }, i) => [i === 0 ? host || '*' : '', path, shown(backend)]),
  )
  const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [
    ...labelEntries(object),
    ['Address', textOr(addresses.join(','), '')],
    ['Ingress Class', textOr(spec.ingressClassName)],
    ['Default backend', spec.defaultBackend === undefined ? '<default>' : shown(spec.defaultBackend)],
    [
      'TLS',
      spec.tls === undefined
        ? undefined
        : spec.tls.map(({ secretName = '', hosts = [] }) =>
            secretName === '' ? `SNI routes ${hosts.join(',')}` : `${secretName} terminates ${hosts.join(',')}`,
          ),
    ],
    ['Rules', grid(['Host', 'Path', 'Backends'], rows)],
  ]
}

function backendText({ service, resource }: Backend, endpoints: readonly Endpoints[] | undefined): string {
  if (resource !== undefined) return `APIGroup: ${resource.apiGroup ?? none}, Kind: ${resource.kind ?? ''}, Name: ${resource.name ?? ''}`
  const { name = '', port } = service ?? {}
  const place = `${name}:${String(port?.number ?? port?.name ?? '')}`
  if (endpoints === undefined) return place
  const found = endpoints.find(({ metadata }) => metadata?.name === name)
  return `${place} (${found === undefined ? `<error: endpoints "${name}" not found>` : addressesOf(found, port?.name)})`
}

export const describeIngressClass = (object: IngressClass): readonly Entry[] => {
  const { controller, parameters } = object.spec ?? {}
  return [
    ...labelEntries(object),
    ['Controller', textOr(controller)],
    [
      'Parameters',
      parameters === undefined
        ? undefined
        : block([
            ['APIGroup', parameters.apiGroup],
            ['Kind', parameters.kind],
            ['Namespace', parameters.namespace],
            ['Name', parameters.name],
          ]),
    ],
  ]
}

type PolicySpec = NonNullable<NetworkPolicy['spec']>
type Peer = NonNullable<NonNullable<NonNullable<PolicySpec['ingress']>[number]>['from']>[number]
type Port = NonNullable<NonNullable<NonNullable<PolicySpec['ingress']>[number]>['ports']>[number]

export function describeNetworkPolicy(object: NetworkPolicy): readonly Entry[] {
  const { podSelector, policyTypes = [], ingress = [], egress = [] } = object.spec ?? {}
  const selector = selectorText(podSelector)
  const traffic = (type: 'Ingress' | 'Egress', rules: readonly Rule[]): Entry => {
    const word = type.toLowerCase()
    if (!policyTypes.includes(type)) return [`Allowing ${word} traffic`, `<any> (Not affecting ${word} traffic)`]
    if (rules.length === 0) return [`Allowing ${word} traffic`, [`${none} (Selected pods are isolated for ${word} connectivity)`]]
    return [`Allowing ${word} traffic`, block(rules.flatMap((rule) => ruleEntries(type === 'Ingress' ? 'From' : 'To', rule)))]
  }
  return [
    createdEntry(object),
    ...labelEntries(object),
    [
      'Spec',
      block([
        ['PodSelector', selector === none ? `${none} (Allowing the specific traffic to all pods in this namespace)` : selector],
        traffic(
          'Ingress',
          ingress.map(({ from = [], ports = [] }) => ({ peers: from, ports })),
        ),
        traffic(
          'Egress',
          egress.map(({ to = [], ports = [] }) => ({ peers: to, ports })),
        ),
        ['Policy Types', policyTypes.join(', ')],
      ]),
    ],
  ]
}

interface Rule {
  readonly peers: readonly Peer[]
  readonly ports: readonly Port[]
}

const ruleEntries = (direction: 'From' | 'To', { peers, ports }: Rule): readonly Entry[] => [
  ...(ports.length === 0
    ? [['To Port', '<any> (traffic allowed to all ports)'] as const]
    : ports.map(
        ({ port, endPort, protocol = 'TCP' }) =>
          ['To Port', `${String(port ?? '<any>')}${endPort === undefined ? '' : `-${endPort}`}/${protocol}`] as const,
      )),
  ...(peers.length === 0
    ? [[direction, `<any> (traffic not restricted by ${direction === 'From' ? 'source' : 'destination'})`] as const]
    : peers.map((peer): Entry => [direction, block(peerEntries(peer))])),
]

const peerEntries = ({ podSelector, namespaceSelector, ipBlock }: Peer): readonly Entry[] => [
  ['NamespaceSelector', namespaceSelector === undefined ? undefined : selectorText(namespaceSelector)],
  ['PodSelector', podSelector === undefined ? undefined : selectorText(podSelector)],
  [
    'IPBlock',
    ipBlock === undefined
      ? undefined
      : block([
          ['CIDR', ipBlock.cidr],
          ['Except', ipBlock.except?.join(', ')],
        ]),
  ],
]

export const describeEndpoints = (object: Endpoints): readonly Entry[] => [
  ...labelEntries(object),
  [
    'Subsets',
    (object.subsets ?? []).length === 0
      ? none
      : block(
          (object.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }): readonly Entry[] => [
            ['Addresses', textOr(addresses.map(({ ip }) => ip).join(','))],
            ['NotReadyAddresses', textOr(notReadyAddresses.map(({ ip }) => ip).join(','))],
            portsEntry(ports),
          ]),
        ),
  ],
]

const portsEntry = (ports: readonly { readonly name?: string; readonly port?: number; readonly protocol?: string }[]): Entry => [
  'Ports',
  grid(
    ['Name', 'Port', 'Protocol'],
    ports.map(({ name, port, protocol = 'TCP' }) => [textOr(name, '<unset>'), String(port ?? '<unset>'), protocol]),
  ),
]

export const describeEndpointSlice = (object: EndpointSlice): readonly Entry[] => [
  ...labelEntries(object),
  ['AddressType', textOr(object.addressType)],
  portsEntry(object.ports ?? []),
  [
    'Endpoints',
    grid(
      ['Addresses', 'Ready', 'Hostname', 'TargetRef', 'NodeName', 'Zone'],
      (object.endpoints ?? []).map(({ addresses = [], conditions, hostname, targetRef, nodeName, zone }) => [
        listOrNone(addresses).join(','),
        textOr(conditions?.ready, '<unset>'),
        textOr(hostname, '<unset>'),
        targetRef === undefined ? '<unset>' : `${targetRef.kind ?? ''}/${targetRef.name ?? ''}`,
        textOr(nodeName, '<unset>'),
        textOr(zone, '<unset>'),
      ]),
    ),
  ],
]
