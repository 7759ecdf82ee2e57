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
  /** Written with the object. */
  readonly gained: readonly UniqueKey[]
  readonly errors: readonly FieldError[]
  /** Gives back what was taken elsewhere; called where the object is certainly not written after all. Unique keys need none. */
  readonly release?: () => void | Promise<void>
}

/** One thing that objects of a kind take: addresses, ports. Those of a kind are asked in the order of the list. */
export interface Reserver {
  /** The kind; left out: all. */
  readonly collection?: string
  readonly reserve: (request: ReservationRequest) => Reservation | Promise<Reservation>
  readonly holds: (object: ApiObject) => readonly UniqueKey[]
}

/** What all reservers together gave. */
export interface Reserved {
  readonly object: ApiObject
  readonly gained: readonly UniqueKey[]
  /** Gives everything back, what was taken last first; undefined where there is nothing to give back. */
  readonly release: (() => Promise<void>) | undefined
}

type Release = NonNullable<Reservation['release']>

const none: readonly Reserver[] = []

/** What a write to a subresource changes is not what is reserved. */
const reserversOf = (engine: Engine, call: Call): readonly Reserver[] =>
  call.subresource === undefined ? reserversFor(engine, call.resource.collection) : none

function reserversFor({ reservers }: Engine, wanted: string): readonly Reserver[] {
  const isConcerned = ({ collection }: Reserver): boolean => collection === undefined || collection === wanted
  return reservers.some(isConcerned) ? reservers.filter(isConcerned) : none
}

/** Synchronous where nothing is reserved. */
export function reserve(engine: Engine, call: Call, request: Omit<ReservationRequest, 'isTaken'>): Reserved | Promise<Reserved> {
  const reservers = reserversOf(engine, call)
  if (reservers.length === 0) return { object: request.next, gained: [], release: undefined }
  return reserveAll(engine, call, { ...request, reservers })
}

interface Reserving extends Omit<ReservationRequest, 'isTaken'> {
  readonly reservers: readonly Reserver[]
}

async function reserveAll(engine: Engine, call: Call, { reservers, next, old, dryRun }: Reserving): Promise<Reserved> {
  const isTaken = (uniqueKey: UniqueKey): boolean => engine.store.isTaken(uniqueKey)
  const gained: UniqueKey[] = []
  const releases: Release[] = []
  let object = next
  try {
    for (const reserver of reservers) {
      const reservation = await reserver.reserve({ next: object, old, dryRun, isTaken })
      if (reservation.release !== undefined) releases.push(reservation.release)
      if (reservation.errors.length > 0) throw invalid(call.resource.invalidSubject, next.metadata?.name ?? '', reservation.errors)
      gained.push(...reservation.gained)
      object = reservation.object
    }
  } catch (thrown) {
    await releaseAll(releases)
    throw thrown
  }
  return { object, gained, release: releases.length === 0 ? undefined : () => releaseAll(releases) }
}

async function releaseAll(releases: readonly Release[]): Promise<void> {
  for (const release of releases.toReversed()) await release()
}

const heldBy = (reservers: readonly Reserver[], object: ApiObject): readonly UniqueKey[] =>
  reservers.toReversed().flatMap((reserver) => reserver.holds(object))

/** What is taken and given back when an object becomes another. */
export function uniqueKeysOfChange(
  engine: Engine,
  call: Call,
  change: { readonly old: ApiObject; readonly next: ApiObject; readonly gained: readonly UniqueKey[] },
): UniqueKeyChanges {
  const reservers = reserversOf(engine, call)
  if (reservers.length === 0) return noUniqueKeys
  const kept = heldBy(reservers, change.next)
  const released = heldBy(reservers, change.old).filter((uniqueKey) => !kept.some((other) => isSame(uniqueKey, other)))
  return { gained: change.gained, released }
}

/** What is given back when an object goes. */
export const uniqueKeysOfRemoval = (engine: Engine, call: Call, object: ApiObject): readonly UniqueKey[] =>
  heldBy(reserversFor(engine, call.resource.collection), object)

const isSame = (a: UniqueKey, b: UniqueKey): boolean => a.kind === b.kind && a.value === b.value
