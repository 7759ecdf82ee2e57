// Slices that mirror Endpoints: one per IP family and subset of ports, with the labels and annotations of the Endpoints.

import { familyOf, type IpFamily } from '@cluster-apiserver/api/api/validation/network/ip-text.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { EndpointAddress, Endpoints } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { Endpoint, EndpointPort } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { portsKeyOf } from '../endpointslice/slice-plan.js'

/** Maximum number of mirrored addresses of a subset. */
export const maxMirroredAddresses = 1000

export interface MirroredGroup {
  readonly family: IpFamily
  readonly ports: readonly EndpointPort[]
  /** By address and target. */
  readonly endpoints: Map<string, Endpoint>
}

interface Mirrored {
  readonly groups: ReadonlyMap<string, MirroredGroup>
  readonly invalid: number
  /** Addresses above the maximum, and invalid ones. */
  readonly skipped: number
}

export const groupKeyOf = (family: string | undefined, ports: readonly EndpointPort[] | undefined): string =>
  `${family} ${portsKeyOf(ports)}`

export function mirror({ subsets = [] }: Endpoints): Mirrored {
  const groups = new Map<string, MirroredGroup>()
  let [invalid, skipped] = [0, 0]
  for (const { addresses = [], notReadyAddresses = [], ports: subsetPorts = [] } of subsets) {
    const ports = subsetPorts.map(({ name = '', protocol = 'TCP', port = 0, appProtocol }) => ({
      name,
      protocol,
      port,
      ...(appProtocol == null ? {} : { appProtocol }),
    }))
    let added = 0
    const all = [
      ...addresses.map((address) => ({ address, ready: true })),
      ...notReadyAddresses.map((address) => ({ address, ready: false })),
    ]
    for (const { address, ready } of all) {
      if (added >= maxMirroredAddresses) break
      const family = familyOf(address.ip ?? '')
      if (family === undefined) {
        invalid += 1
        continue
      }
      const { endpoints } = getOrInsert(groups, groupKeyOf(family, ports), () => ({ family, ports, endpoints: new Map() }))
      // The same address in another subset with these ports: the last one counts.
      endpoints.set(`${address.ip} ${address.targetRef?.namespace ?? ''}/${address.targetRef?.name ?? ''}`, endpointOf(address, ready))
      added += 1
    }
    skipped += all.length - added
  }
  return { groups, invalid, skipped }
}

const endpointOf = ({ ip = '', hostname, nodeName, targetRef }: EndpointAddress, ready: boolean): Endpoint => ({
  addresses: [ip],
  conditions: { ready },
  ...(hostname === undefined || hostname === '' ? {} : { hostname }),
  ...(targetRef === undefined ? {} : { targetRef }),
  ...(nodeName === undefined ? {} : { nodeName }),
})
