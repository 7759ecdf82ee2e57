// Objects of this API server: its Service, Endpoints, EndpointSlice, identity Lease, and the ConfigMap cluster-info.

import { createHash } from 'node:crypto'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { type ApiObject, members } from '@cluster-apiserver/api/api/object.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { WantedObject } from './ensure-objects.js'

export interface ServiceAddresses {
  /** First address of the service range. */
  readonly serviceAddress: string
  readonly securePort: number
}

export interface Listeners {
  /** Addresses of all servers, of one family; empty if other machines cannot connect. */
  readonly addresses: readonly string[]
  readonly securePort: number
}

export const apiServerService = (identity: Identity, { serviceAddress, securePort }: ServiceAddresses): WantedObject => ({
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

export const apiServerEndpoints = (identity: Identity, { addresses, securePort }: Listeners): readonly WantedObject[] => {
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
      reconcile: copyMembers(['subsets']),
    },
    {
      group: { stem: 'discovery' },
      version: 'v1',
      resource: 'endpointslices',
      namespace: 'default',
      object: slice,
      mustRecreate: (stored, wanted) => members(stored)['addressType'] !== members(wanted)['addressType'],
      reconcile: copyMembers(['endpoints', 'ports']),
    },
  ]
}

export interface ClusterInfo {
  /** URL of this server. */
  readonly server: string
  readonly caPem: string
}

/** The ConfigMap cluster-info, for machines that join the cluster. Created if missing, but never changed: other programs edit it. */
export const clusterInfo = (identity: Identity, { server, caPem }: ClusterInfo): WantedObject => {
  const kubeconfig = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: ${Buffer.from(caPem).toString('base64')}
    server: ${server}
  name: ""
contexts: null
current-context: ""
kind: Config
preferences: {}
users: null
`
  const namespace = identity.prefixed('public')
  const object = { metadata: { name: 'cluster-info', namespace }, data: { kubeconfig } } as ApiObject
  return { group: '', version: 'v1', resource: 'configmaps', namespace, object }
}

const copyMembers =
  (names: readonly string[]) =>
  (stored: ApiObject, wanted: ApiObject): ApiObject => {
    const [storedMembers, wantedMembers] = [members(stored), members(wanted)]
    if (names.every((name) => sameValue(storedMembers[name], wantedMembers[name]))) return stored
    return { ...stored, ...Object.fromEntries(names.map((name) => [name, wantedMembers[name]])) }
  }

export interface ServerName {
  readonly hostname: string
  readonly holder: string
  readonly leaseSeconds: number
}

/** Named after the host, so that a restart takes over the lease. */
export function apiServerLease(
  identity: Identity,
  { hostname, holder, leaseSeconds, now }: ServerName & { readonly now: number },
): WantedObject {
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
        // The domain of the first label is that of API groups.
        labels: { [`${identity.groupSuffix}/component`]: identity.prefixed('apiserver'), [identity.label('hostname')]: hostname },
      },
      spec: {
        holderIdentity: `${name}_${holder}`,
        leaseDurationSeconds: leaseSeconds,
        renewTime: `${new Date(now).toISOString().slice(0, -1)}000Z`,
      },
    } as ApiObject,
    reconcile: copyMembers(['spec']),
  }
}

const base32Alphabet = 'abcdefghijklmnopqrstuvwxyz234567'

/** RFC 4648, in lower case and without padding. */
export function base32(bytes: Uint8Array): string {
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('')
  return (bits.match(/.{1,5}/g) ?? []).map((fiveBits) => base32Alphabet[Number.parseInt(fiveBits.padEnd(5, '0'), 2)]).join('')
}
