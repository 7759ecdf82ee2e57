// Services take addresses and node ports, and hold them as long as they are stored.

import type { ApiObject } from '../../api/object.js'
import type { UniqueKey } from '../../objects/unique-keys.js'
import { allocate, type Holdings, holdingsOf, type ServiceRanges } from '../../resources/core/service-allocation.js'
import type { Service } from '../../resources/core/v1.schema.js'
import type { Reserver } from '../reserve.js'

const address = (value: string): UniqueKey => ({ kind: 'service-addresses', value })
const port = (value: number): UniqueKey => ({ kind: 'node-ports', value: String(value) })
const uniqueKeysOf = ({ addresses, ports }: Holdings): readonly UniqueKey[] => [...addresses.map(address), ...ports.map(port)]

export const serviceReserver = (ranges: ServiceRanges, random: () => number): Reserver => ({
  collection: 'services',
  reserve: ({ next, old, dryRun, isTaken }) => {
    const taken = {
      addresses: { has: (value: string) => isTaken(address(value)) },
      ports: { has: (value: number) => isTaken(port(value)) },
    }
    const allocation = allocate({ next: next as Service, old: old as Service | undefined, ranges, taken, random, dryRun })
    return { object: allocation.service as ApiObject, gained: uniqueKeysOf(allocation.gained), errors: allocation.errors }
  },
  holds: (object) => uniqueKeysOf(holdingsOf(object as Service)),
})
