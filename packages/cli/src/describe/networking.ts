// Description of Ingress, IngressClass, NetworkPolicy, Endpoints and EndpointSlice.

import type { EndpointSlice, Endpoints, Ingress, IngressClass, NetworkPolicy } from '@cluster-apiserver/client/typed/types.js'
import { annotationsEntry, labelEntries, selectorText, textOr } from './common-fields.js'
import { bare, below, block, type Entry, grid, heading, none, pairsOf } from './description.js'
import type { DescribeContext } from './related-objects.js'
import { addressesOf } from './service.js'

type IngressSpec = NonNullable<Ingress['spec']>
type Backend = NonNullable<IngressSpec['defaultBackend']>

export async function describeIngress(object: Ingress, context: DescribeContext): Promise<readonly Entry[]> {
  const { metadata, spec = {}, status } = object
  const endpoints = await context.list<Endpoints>('endpoints', metadata?.namespace)
  const backendOrNone = (backend: Backend | undefined): string => (backend === undefined ? none : backendText(backend, endpoints))
  const rows = (spec.rules ?? []).flatMap(({ host, http }): readonly (readonly string[])[] => [
    [host || '*', ''],
    ...(http?.paths ?? []).map(({ path = '', backend }) => ['', `${path} `, backendOrNone(backend)]),
  ])
  const rules = rows.length === 0 ? [['*', '*', backendOrNone(spec.defaultBackend)]] : rows
  const addresses = (status?.loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [
    ['Labels', pairsOf(metadata?.labels)],
    ['Namespace', metadata?.namespace],
    ['Address', addresses.join(',')],
    ['Ingress Class', textOr(spec.ingressClassName)],
    ['Default backend', spec.defaultBackend === undefined ? '<default>' : backendOrNone(spec.defaultBackend)],
    [
      'TLS',
      spec.tls === undefined
        ? undefined
        : below(
            spec.tls.map(({ secretName = '', hosts = [] }) =>
              secretName === '' ? `SNI routes ${hosts.join(',')}` : `${secretName} terminates ${hosts.join(',')}`,
            ),
          ),
    ],
    ['Rules', grid(['Host', 'Path', 'Backends'], rules)],
    annotationsEntry(metadata?.annotations),
  ]
}

function backendText({ service, resource }: Backend, endpoints: readonly Endpoints[] | undefined): string {
  if (resource !== undefined) return `APIGroup: ${resource.apiGroup ?? none}, Kind: ${resource.kind ?? ''}, Name: ${resource.name ?? ''}`
  const { name = '', port } = service ?? {}
  const address = `${name}:${String(port?.number ?? port?.name ?? '')}`
  if (endpoints === undefined) return address
  const found = endpoints.find(({ metadata }) => metadata?.name === name)
  return `${address} (${found === undefined ? `<error: endpoints "${name}" not found>` : addressesOf(found, port?.name)})`
}

export const describeIngressClass = (object: IngressClass): readonly Entry[] => {
  const { controller, parameters } = object.spec ?? {}
  return [
    ...labelEntries(object),
    ['Controller', controller ?? ''],
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
    const lowerType = type.toLowerCase()
    if (!policyTypes.includes(type)) return bare(`Not affecting ${lowerType} traffic`)
    if (rules.length === 0)
      return [`Allowing ${lowerType} traffic`, below([`${none} (Selected pods are isolated for ${lowerType} connectivity)`])]
    const parts = rules.map((rule) => ruleEntries(type === 'Ingress' ? 'From' : 'To', rule))
    return [`Allowing ${lowerType} traffic`, heading(parts.flatMap((part, i) => (i === 0 ? part : [bare('----------'), ...part])))]
  }
  return [
    ['Created on', createdText(object.metadata?.creationTimestamp)],
    ...labelEntries(object),
    [
      'Spec',
      block([
        [
          'PodSelector',
          { inline: `    ${selector === none ? `${none} (Allowing the specific traffic to all pods in this namespace)` : selector}` },
        ],
        traffic(
          'Ingress',
          ingress.map(({ from = [], ports = [] }) => ({ peers: from, ports })),
        ),
        traffic(
          'Egress',
          egress.map(({ to = [], ports = [] }) => ({ peers: to, ports })),
        ),
        ['Policy Types', { inline: policyTypes.join(', ') }],
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
    ? [['To Port', { inline: '<any> (traffic allowed to all ports)' }] as const]
    : ports.map(
        ({ port, endPort, protocol = 'TCP' }) =>
          ['To Port', { inline: `${String(port ?? '<any>')}${endPort === undefined ? '' : `-${endPort}`}/${protocol}` }] as const,
      )),
  ...(peers.length === 0
    ? [[direction, { inline: `<any> (traffic not restricted by ${direction === 'From' ? 'source' : 'destination'})` }] as const]
    : peers.map((peer): Entry => [direction, heading(peerEntries(peer))])),
]

const peerEntries = ({ podSelector, namespaceSelector, ipBlock }: Peer): readonly Entry[] => [
  ['NamespaceSelector', namespaceSelector === undefined ? undefined : { inline: selectorText(namespaceSelector) }],
  ['PodSelector', podSelector === undefined ? undefined : { inline: selectorText(podSelector) }],
  [
    'IPBlock',
    ipBlock === undefined
      ? undefined
      : heading([
          ['CIDR', { inline: ipBlock.cidr ?? '' }],
          ['Except', { inline: (ipBlock.except ?? []).join(', ') }],
        ]),
  ],
]

export const describeEndpoints = (object: Endpoints): readonly Entry[] => [
  ...labelEntries(object),
  [
    'Subsets',
    (object.subsets ?? []).length === 0
      ? heading([])
      : heading(
          (object.subsets ?? []).flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }): readonly Entry[] => [
            ['Addresses', textOr(addresses.map(({ ip }) => ip).join(','))],
            ['NotReadyAddresses', textOr(notReadyAddresses.map(({ ip }) => ip).join(','))],
            ...(ports.length === 0 ? [] : [portsEntry(ports)]),
            bare(''),
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
  ['AddressType', object.addressType ?? ''],
  (object.ports ?? []).length === 0 ? ['Ports', '<unset>'] : portsEntry(object.ports ?? []),
  (object.endpoints ?? []).length === 0
    ? ['Endpoints', none]
    : ['Endpoints', heading((object.endpoints ?? []).flatMap(endpointEntries), 0)],
]

type Endpoint = NonNullable<EndpointSlice['endpoints']>[number]

const endpointEntries = ({ addresses = [], conditions, hostname, targetRef, nodeName, zone }: Endpoint): readonly Entry[] => [
  ['  - Addresses', addresses.join(',')],
  ['    Conditions', heading([['    Ready', textOr(conditions?.ready, '<unset>')]])],
  ['    Hostname', textOr(hostname, '<unset>')],
  ['    TargetRef', targetRef === undefined ? undefined : `${targetRef.kind ?? ''}/${targetRef.name ?? ''}`],
  ['    NodeName', textOr(nodeName, '<unset>')],
  ['    Zone', textOr(zone, '<unset>')],
]

const createdText = (time: unknown): string =>
  String(time ?? '')
    .replace('T', ' ')
    .replace(/(?:\.\d+)?Z$/, ' +0000 UTC')
