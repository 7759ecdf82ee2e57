// Services take addresses and node ports, and hold them as long as they are stored.

import type { ApiObject } from '../../api/object.js'
import type { Claim } from '../../objects/claims.js'
import { allocate, type Holdings, holdingsOf, type ServiceRanges } from '../../resources/core/service-allocation.js'
import type { Service } from '../../resources/core/v1.schema.js'
import type { Reserver } from '../reserve.js'

const address = (value: string): Claim => ({ kind: 'service-addresses', value })
const port = (value: number): Claim => ({ kind: 'node-ports', value: String(value) })
const claimsOf = ({ addresses, ports }: Holdings): readonly Claim[] => [...addresses.map(address), ...ports.map(port)]

export const serviceReserver = (ranges: ServiceRanges, random: () => number): Reserver => ({
  collection: 'services',
  reserve: ({ next, old, dryRun, isTaken }) => {
    const taken = {
      addresses: { has: (value: string) => isTaken(address(value)) },
      ports: { has: (value: number) => isTaken(port(value)) },
    }
    const allocation = allocate({ next: next as Service, old: old as Service | undefined, ranges, taken, random, dryRun })
    return { object: allocation.service as ApiObject, gained: claimsOf(allocation.gained), errors: allocation.errors }
  },
  holds: (object) => claimsOf(holdingsOf(object as Service)),
})
