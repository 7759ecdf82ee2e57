// Services take addresses, then node ports, and hold them as long as they are stored.

import type { ApiObject } from '../../api/object.js'
import type { UniqueKey } from '../../objects/unique-keys.js'
import { type Allocation, holdingsOf, type ServiceRanges, takeAddresses, takePorts } from '../../resources/core/service-allocation.js'
import type { Service } from '../../resources/core/v1.schema.js'
import type { Reservation, ReservationRequest, Reserver } from '../reserve.js'

const address = (value: string): UniqueKey => ({ kind: 'service-addresses', value })
const port = (value: number): UniqueKey => ({ kind: 'node-ports', value: String(value) })

const collection = 'services'

/** In the order in which they are asked. */
export function serviceReservers(ranges: ServiceRanges, random: () => number): readonly Reserver[] {
  const requestOf = ({ next, old, dryRun, isTaken }: ReservationRequest) => ({
    next: next as Service,
    old: old as Service | undefined,
    ranges,
    taken: {
      addresses: { has: (value: string) => isTaken(address(value)) },
      ports: { has: (value: number) => isTaken(port(value)) },
    },
    random,
    dryRun,
  })
  return [
    {
      collection,
      reserve: (request) => reservationOf(takeAddresses(requestOf(request))),
      holds: (object) => holdingsOf(object as Service).addresses.map(address),
    },
    {
      collection,
      reserve: (request) => reservationOf(takePorts(requestOf(request))),
      holds: (object) => holdingsOf(object as Service).ports.map(port),
    },
  ]
}

const reservationOf = ({ service, gained, errors }: Allocation): Reservation => ({
  object: service as ApiObject,
  gained: [...gained.addresses.map(address), ...gained.ports.map(port)],
  errors,
})
