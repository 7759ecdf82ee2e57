// Allocates unique values, such as Service IPs and node ports, for a write, and finds those that it releases.

import { invalid } from '@cluster-apiserver/api/api/api-error.js'
import type { Call } from '@cluster-apiserver/api/api/call.js'
import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import { noUniqueKeys, type UniqueKey, type UniqueKeyChanges } from '../../objects/object-keys.js'
import type { Engine } from '../engine.js'
import type { Reservation, ReservationRequest, Reserver } from './reserver.js'

export interface Reserved {
  readonly object: ApiObject
  readonly gained: readonly UniqueKey[]
  /** Releases in reverse order. Undefined: nothing to release. */
  readonly release: (() => Promise<void>) | undefined
}

type Release = NonNullable<Reservation['release']>

const noReservers: readonly Reserver[] = []

/** Writes to subresources allocate nothing. */
const reserversForCall = (engine: Engine, call: Call): readonly Reserver[] =>
  call.subresource === undefined ? reserversForCollection(engine, call.resource.collection) : noReservers

function reserversForCollection({ reservers }: Engine, wanted: string): readonly Reserver[] {
  const isApplicable = ({ collection }: Reserver): boolean => collection === undefined || collection === wanted
  return reservers.some(isApplicable) ? reservers.filter(isApplicable) : noReservers
}

export async function reserve(engine: Engine, call: Call, { next, old, dryRun }: Omit<ReservationRequest, 'isTaken'>): Promise<Reserved> {
  const isTaken = (uniqueKey: UniqueKey): boolean => engine.store.isTaken(uniqueKey)
  const gained: UniqueKey[] = []
  const releases: Release[] = []
  let object = next
  try {
    for (const reserver of reserversForCall(engine, call)) {
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

const uniqueKeysOf = (reservers: readonly Reserver[], object: ApiObject): readonly UniqueKey[] =>
  reservers.toReversed().flatMap((reserver) => reserver.uniqueKeysOf(object))

export function uniqueKeysOfChange(
  engine: Engine,
  call: Call,
  change: { readonly old: ApiObject; readonly next: ApiObject; readonly gained: readonly UniqueKey[] },
): UniqueKeyChanges {
  const reservers = reserversForCall(engine, call)
  if (reservers.length === 0) return noUniqueKeys
  const kept = uniqueKeysOf(reservers, change.next)
  const released = uniqueKeysOf(reservers, change.old).filter((uniqueKey) => !kept.some((other) => isSameKey(uniqueKey, other)))
  return { gained: change.gained, released }
}

export const uniqueKeysOfRemoval = (engine: Engine, call: Call, object: ApiObject): readonly UniqueKey[] =>
  uniqueKeysOf(reserversForCollection(engine, call.resource.collection), object)

const isSameKey = (a: UniqueKey, b: UniqueKey): boolean => a.kind === b.kind && a.value === b.value
