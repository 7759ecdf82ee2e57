// The status of a claim: what driver and scheduler may write, and the transitions between allocated, reserved and deallocating.

import { duplicate, type FieldError, forbidden, required, tooLongFor } from '../../api/field-error.js'
import { byteLength } from '../../api/validation/byte-length.js'
import { validateNodeSelector } from '../core/node-selector.js'
import { validateDriverName } from './driver-name.js'
import type { AllocationResult, ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus } from './v1alpha1.schema.js'

const handleLimitBytes = 16 * 1024
const consumersLimit = 32

export function validateClaimStatus(next: ResourceClaim, old: ResourceClaim): readonly FieldError[] {
  const status = next.status ?? {}
  return [
    ...validateDriver(status),
    ...(status.allocation === undefined ? [] : validateAllocation(status.allocation)),
    ...validateConsumers(status.reservedFor ?? []),
    ...validateReservations(next, old),
    ...validateDeallocation(status, old.status ?? {}),
  ]
}

function validateDriver({ driverName = '', allocation }: ResourceClaimStatus): readonly FieldError[] {
  if (driverName !== '') return validateDriverName(driverName, 'status.driverName')
  return allocation === undefined ? [] : [required('status.driverName', 'must be specified when `allocation` is set')]
}

function validateAllocation({ resourceHandle = '', availableOnNodes }: AllocationResult): readonly FieldError[] {
  return [
    ...(byteLength(resourceHandle) > handleLimitBytes ? [tooLongFor('status.allocation.resourceHandle', handleLimitBytes)] : []),
    ...(availableOnNodes === undefined ? [] : validateNodeSelector(availableOnNodes, 'status.allocation.availableOnNodes')),
  ]
}

/** Consumers are told apart by uid. */
function validateConsumers(consumers: readonly ResourceClaimConsumerReference[]): readonly FieldError[] {
  const seen = new Set<string>()
  const errors = consumers.flatMap((consumer, i) => {
    const { uid = '' } = consumer
    if (seen.has(uid)) return [duplicate(`status.reservedFor[${i}].uid`, uid)]
    seen.add(uid)
    return validateConsumer(consumer, `status.reservedFor[${i}]`)
  })
  return consumers.length > consumersLimit ? [...errors, tooLongFor('status.reservedFor', consumersLimit)] : errors
}

const validateConsumer = (consumer: ResourceClaimConsumerReference, field: string): FieldError[] =>
  (['resource', 'name', 'uid'] as const).filter((name) => (consumer[name] ?? '') === '').map((name) => required(`${field}.${name}`))

/** Only what is allocated can be reserved, and nothing new while it is about to go. */
function validateReservations(next: ResourceClaim, old: ResourceClaim): readonly FieldError[] {
  const { reservedFor = [], allocation, deallocationRequested } = next.status ?? {}
  const field = 'status.reservedFor'
  if (reservedFor.length === 0) return []
  if (allocation === undefined) return [forbidden(field, 'may not be specified when `allocated` is not set')]
  const errors: FieldError[] = []
  if (allocation.shareable !== true && reservedFor.length > 1) errors.push(forbidden(field, 'may not be reserved more than once'))
  const isGoing = next.metadata?.deletionTimestamp !== undefined || deallocationRequested === true
  if (isGoing && hasNewConsumer(reservedFor, old.status?.reservedFor ?? [])) {
    errors.push(forbidden(field, 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'))
  }
  return errors
}

function hasNewConsumer(next: readonly ResourceClaimConsumerReference[], old: readonly ResourceClaimConsumerReference[]): boolean {
  const keyOf = ({ apiGroup = '', resource = '', name = '', uid = '' }: ResourceClaimConsumerReference): string =>
    JSON.stringify([apiGroup, resource, name, uid])
  const known = new Set(old.map(keyOf))
  return next.some((consumer) => !known.has(keyOf(consumer)))
}

/** The request to deallocate stands until the driver clears it together with the allocation. */
function validateDeallocation(next: ResourceClaimStatus, old: ResourceClaimStatus): readonly FieldError[] {
  const field = 'status.deallocationRequested'
  const [isRequested, wasRequested] = [next.deallocationRequested === true, old.deallocationRequested === true]
  const errors: FieldError[] = []
  if (!wasRequested && isRequested && (next.reservedFor ?? []).length > 0) {
    errors.push(forbidden(field, 'deallocation cannot be requested while `reservedFor` is set'))
  }
  if (isRequested && next.allocation === undefined) {
    errors.push(forbidden('status', '`allocation` must be set when `deallocationRequested` is set'))
  }
  if (wasRequested && !isRequested && next.allocation !== undefined) {
    errors.push(forbidden(field, 'may not be cleared when `allocation` is set'))
  }
  return errors
}
