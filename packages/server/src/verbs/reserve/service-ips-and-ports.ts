// Allocates ClusterIPs and node ports of Services; they stay allocated as long as the stored Service has them.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import {
  type Allocation,
  allocateClusterIps,
  allocatedResourcesOf,
  allocateNodePorts,
  type ServiceRanges,
} from '@cluster-apiserver/api/resources/core/service/service-ip-allocation.js'
import type { Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { UniqueKey } from '../../objects/object-keys.js'
import type { Reservation, ReservationRequest, Reserver } from './reserver.js'

const addressKey = (value: string): UniqueKey => ({ kind: 'service-addresses', value })
const portKey = (value: number): UniqueKey => ({ kind: 'node-ports', value: String(value) })

const collection = 'services'

export function serviceReservers(ranges: ServiceRanges, random: () => number): readonly Reserver[] {
  const requestOf = ({ next, old, dryRun, isTaken }: ReservationRequest) => ({
    next: next as Service,
    old: old as Service | undefined,
    ranges,
    taken: {
      addresses: { has: (value: string) => isTaken(addressKey(value)) },
      ports: { has: (value: number) => isTaken(portKey(value)) },
    },
    random,
    dryRun,
  })
  return [
    {
      collection,
      reserve: async (request) => reservationOf(allocateClusterIps(requestOf(request))),
      uniqueKeysOf: (object) => allocatedResourcesOf(object as Service).addresses.map(addressKey),
    },
    {
      collection,
      reserve: async (request) => reservationOf(allocateNodePorts(requestOf(request))),
      uniqueKeysOf: (object) => allocatedResourcesOf(object as Service).ports.map(portKey),
    },
  ]
}

const reservationOf = ({ service, allocated, errors }: Allocation): Reservation => ({
  object: service as ApiObject,
  gained: [...allocated.addresses.map(addressKey), ...allocated.ports.map(portKey)],
  errors,
})
