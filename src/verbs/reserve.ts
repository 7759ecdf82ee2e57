// The step before a write that takes what only one object may have. What it takes is written with the object or not at all.

import { invalid } from '../api/api-error.js'
import type { Call } from '../api/call.js'
import type { FieldError } from '../api/field-error.js'
import type { ApiObject } from '../api/object.js'
import { noUniqueKeys, type UniqueKey, type UniqueKeyChanges } from '../objects/unique-keys.js'
import type { Engine } from './engine.js'

export interface ReservationRequest {
  readonly next: ApiObject
  readonly old: ApiObject | undefined
  readonly dryRun: boolean
  readonly isTaken: (uniqueKey: UniqueKey) => boolean
}

export interface Reservation {
  /** The object with what it was given. */
  readonly object: ApiObject
  readonly gained: readonly UniqueKey[]
  readonly errors: readonly FieldError[]
}

/** How the objects of one kind reserve. */
export interface Reserver {
  readonly collection: string
  readonly reserve: (request: ReservationRequest) => Reservation
  readonly holds: (object: ApiObject) => readonly UniqueKey[]
}

export interface Reserved {
  readonly object: ApiObject
  readonly gained: readonly UniqueKey[]
}

const reserverOf = (engine: Engine, call: Call): Reserver | undefined =>
  call.subresource === undefined ? engine.reservers.find(({ collection }) => collection === call.resource.collection) : undefined

export function reserve(engine: Engine, call: Call, request: Omit<ReservationRequest, 'isTaken'>): Reserved {
  const reserver = reserverOf(engine, call)
  if (reserver === undefined) return { object: request.next, gained: [] }
  const { object, gained, errors } = reserver.reserve({ ...request, isTaken: (uniqueKey) => engine.store.isTaken(uniqueKey) })
  if (errors.length > 0) throw invalid(call.resource.invalidSubject, object.metadata?.name ?? '', errors)
  return { object, gained }
}

/** What is taken and given back when an object becomes another. */
export function uniqueKeysOfChange(
  engine: Engine,
  call: Call,
  change: { readonly old: ApiObject; readonly next: ApiObject; readonly gained: readonly UniqueKey[] },
): UniqueKeyChanges {
  const reserver = reserverOf(engine, call)
  if (reserver === undefined) return noUniqueKeys
  const kept = reserver.holds(change.next)
  const released = reserver.holds(change.old).filter((uniqueKey) => !kept.some((other) => isSame(uniqueKey, other)))
  return { gained: change.gained, released }
}

/** What is given back when an object goes. */
export const uniqueKeysOfRemoval = (engine: Engine, call: Call, object: ApiObject): readonly UniqueKey[] =>
  reserverOf(engine, call.with({ subresource: undefined }))?.holds(object) ?? []

const isSame = (a: UniqueKey, b: UniqueKey): boolean => a.kind === b.kind && a.value === b.value
