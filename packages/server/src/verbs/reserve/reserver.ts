// Interface of allocators of cluster-wide unique values, such as Service IPs and node ports.

import type { FieldError } from '@cluster-apiserver/api/api/field-error.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { UniqueKey } from '../../objects/object-keys.js'

export interface ReservationRequest {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
  readonly dryRun: boolean
  readonly isTaken: (uniqueKey: UniqueKey) => boolean
}

export interface Reservation {
  readonly object: ApiObject
  readonly gained: readonly UniqueKey[]
  readonly errors: readonly FieldError[]
  /** Releases allocations outside the store, if the object was certainly not written. Unique keys need no release. */
  readonly release?: () => Promise<void>
}

/** Allocates one kind of value. Reservers run in the order of the list. */
export interface Reserver {
  readonly collection?: string
  readonly reserve: (request: ReservationRequest) => Promise<Reservation>
  readonly uniqueKeysOf: (object: ApiObject) => readonly UniqueKey[]
}
