// The server among its objects: the namespaces of the system, its own service with the address behind it, and the lease that says it runs.

import { createHash } from 'node:crypto'
import type { Identity } from '../../api/identity.js'
import { type ApiObject, members } from '../../api/object.js'
import { sameValue } from '../../api/validation/same-value.js'
import type { Wanted } from './wanted.js'

export interface OwnAddresses {
  /** The first address of the range for services: the API's own. */
  readonly serviceAddress: string
  readonly securePort: number
}

export interface Listeners {
  /** Where servers are reached, all of one family; none where nobody else can reach them. */
  readonly addresses: readonly string[]
  readonly securePort: number
}

export const namespacesOf = (identity: Identity): readonly Wanted[] =>
  ['default', identity.prefixed('node-lease'), identity.prefixed('public'), identity.prefixed('system')].map((name) => ({
    group: '',
    version: 'v1',
    resource: 'namespaces',
    object: { metadata: { name } },
  }))

const priorityClass = (name: string, value: number, description: string): Wanted => ({
  group: { stem: 'scheduling' },
  version: 'v1',
  resource: 'priorityclasses',
  object: { metadata: { name }, value, description } as ApiObject,
})

export const priorityClasses: readonly Wanted[] = [
  priorityClass(
    'system-cluster-critical',
    2_000_000_000,
    'For pods without which the cluster does not work; they may move to another node.',
  ),
  priorityClass('system-node-critical', 2_000_001_000, 'For pods without which their node does not work.'),
]

/** The API under the address that programs inside the cluster know. */
export const ownService = (identity: Identity, { serviceAddress, securePort }: OwnAddresses): Wanted => ({
  group: '',
  version: 'v1',
  resource: 'services',
  namespace: 'default',
  object: {
    metadata: { name: identity.self, namespace: 'default', labels: { component: 'apiserver', provider: identity.self } },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: securePort }],
      clusterIP: serviceAddress,
      clusterIPs: [serviceAddress],
      ipFamilyPolicy: 'SingleStack',
      sessionAffinity: 'None',
      type: 'ClusterIP',
    },
  } as ApiObject,
})

/** The addresses behind the service: those, and no others. */
export const ownEndpoints = (identity: Identity, { addresses, securePort }: Listeners): readonly Wanted[] => {
  const [first] = addresses
  if (first === undefined) return []
  const endpoints = {
    metadata: {
      name: identity.self,
      namespace: 'default',
      labels: { [identity.label('skip-mirror', 'endpointslice')]: 'true' },
    },
    subsets: [{ addresses: addresses.map((ip) => ({ ip })), ports: [{ name: 'https', port: securePort, protocol: 'TCP' }] }],
  } as ApiObject
  const slice = {
    metadata: { name: identity.self, namespace: 'default', labels: { [identity.label('service-name')]: identity.self } },
    addressType: first.includes(':') ? 'IPv6' : 'IPv4',
    endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
    ports: [{ name: 'https', protocol: 'TCP', port: securePort }],
  } as ApiObject
  return [
    {
      group: '',
      version: 'v1',
      resource: 'endpoints',
      namespace: 'default',
      object: endpoints,
      reconcile: followMembers(['subsets']),
    },
    {
      group: { stem: 'discovery' },
      version: 'v1',
      resource: 'endpointslices',
      namespace: 'default',
      object: slice,
      isOutlived: (stored, wanted) => members(stored)['addressType'] !== members(wanted)['addressType'],
      reconcile: followMembers(['endpoints', 'ports']),
    },
  ]
}

/** The stored object with these members as they are wanted. */
const followMembers =
  (names: readonly string[]) =>
  (stored: ApiObject, wanted: ApiObject): ApiObject => {
    const [was, is] = [members(stored), members(wanted)]
    if (names.every((name) => sameValue(was[name], is[name]))) return stored
    return { ...stored, ...Object.fromEntries(names.map((name) => [name, is[name]])) }
  }

export interface ServerName {
  readonly hostname: string
  /** The word that tells this run of the server from others on the same machine. */
  readonly holder: string
  /** How long others believe that it runs after it was last heard of. */
  readonly leaseSeconds: number
}

/** That this server runs, and since when it was last heard of. The name is the machine's, so that a new start takes the old one over. */
export function ownLease(identity: Identity, { hostname, holder, leaseSeconds, now }: ServerName & { readonly now: number }): Wanted {
  const name = identity.prefixed(`apiserver-${base32(createHash('sha256').update(hostname).digest().subarray(0, 16))}`)
  return {
    group: { stem: 'coordination' },
    version: 'v1',
    resource: 'leases',
    namespace: identity.prefixed('system'),
    object: {
      metadata: {
        name,
        namespace: identity.prefixed('system'),
        // The first one is in the domain of groups.
        labels: { [`${identity.groupSuffix}/component`]: identity.prefixed('apiserver'), [identity.label('hostname')]: hostname },
      },
      spec: {
        holderIdentity: `${name}_${holder}`,
        leaseDurationSeconds: leaseSeconds,
        renewTime: `${new Date(now).toISOString().slice(0, -1)}000Z`,
      },
    } as ApiObject,
    reconcile: followMembers(['spec']),
  }
}

const letters = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, in small letters and without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((five) => letters[Number.parseInt(five.padEnd(5, '0'), 2)]).join('')
}
