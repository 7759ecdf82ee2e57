// Chooses the volume of a claim.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import { fromSelectorObject } from '@cluster-apiserver/api/api/selectors/label-selector.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { compareQuantities, parseQuantity, type Quantity } from '@cluster-apiserver/api/schema/quantity.js'
import { isTerminating } from '../kit/workload-parts.js'
import { classNameOf } from './volume-annotations.js'

const zero = parseQuantity('0')

const quantityOf = (amounts: { readonly [name: string]: string } | undefined): Quantity => {
  const text = amounts?.['storage']
  return text === undefined ? zero : parseQuantity(text)
}

const sizeOf = ({ spec }: PersistentVolume): Quantity => quantityOf(spec?.capacity as never)
const requestOf = ({ spec }: PersistentVolumeClaim): Quantity => quantityOf(spec?.resources?.requests as never)
const modeOf = ({ spec }: PersistentVolume | PersistentVolumeClaim): string => spec?.volumeMode ?? 'Filesystem'

export const hasOtherMode = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean => modeOf(volume) !== modeOf(claim)

const hasAccessModes = ({ spec }: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  (claim.spec?.accessModes ?? []).every((mode) => spec?.accessModes?.includes(mode))

/** True if the claimRef names the claim and has no other uid. */
export function isReservedFor({ spec }: PersistentVolume, { metadata }: PersistentVolumeClaim): boolean {
  const { claimRef } = spec ?? {}
  if (claimRef === undefined || claimRef.name !== metadata?.name || claimRef.namespace !== metadata?.namespace) return false
  return (claimRef.uid ?? '') === '' || claimRef.uid === metadata?.uid
}

/** Why a claim cannot have the volume that it names; undefined if it can. */
export function mismatchOf(identity: Identity, volume: PersistentVolume, claim: PersistentVolumeClaim): string | undefined {
  if (isTerminating(volume)) return `the volume is marked for deletion "${volume.metadata?.name}"`
  if (compareQuantities(sizeOf(volume), requestOf(claim)) < 0) return 'requested PV is too small'
  if (classNameOf(identity, volume) !== classNameOf(identity, claim)) return 'storageClassName does not match'
  if (hasOtherMode(volume, claim)) return 'incompatible volumeMode'
  return hasAccessModes(volume, claim) ? undefined : 'incompatible accessMode'
}

interface Match {
  readonly identity: Identity
  /** The scheduler binds claims of the class: only a reserved volume matches. */
  readonly isDelayed: boolean
}

/** A volume that is reserved for the claim, or else the smallest one among those with the fewest access modes. */
export function findVolume(
  claim: PersistentVolumeClaim,
  volumes: Iterable<PersistentVolume>,
  { identity, isDelayed }: Match,
): PersistentVolume | undefined {
  const byModes = new Map<number, PersistentVolume[]>()
  const request = requestOf(claim)
  for (const volume of volumes) {
    if (isTerminating(volume) || !hasAccessModes(volume, claim) || hasOtherMode(volume, claim)) continue
    if (compareQuantities(sizeOf(volume), request) < 0) continue
    const count = volume.spec?.accessModes?.length ?? 0
    getOrInsert(byModes, count, () => []).push(volume)
  }
  const selector = claim.spec?.selector === undefined ? undefined : fromSelectorObject(claim.spec.selector)
  const className = classNameOf(identity, claim)
  const isFree = (volume: PersistentVolume): boolean =>
    !isDelayed &&
    volume.spec?.claimRef === undefined &&
    volume.status?.phase === 'Available' &&
    classNameOf(identity, volume) === className &&
    selector?.matches(volume.metadata?.labels) !== false
  for (const [, sameModes] of [...byModes].sort(([a], [b]) => a - b)) {
    const reserved = sameModes.find((volume) => isReservedFor(volume, claim))
    if (reserved !== undefined) return reserved
    const [smallest] = sameModes.filter(isFree).sort((a, b) => compareQuantities(sizeOf(a), sizeOf(b)))
    if (smallest !== undefined) return smallest
  }
  return undefined
}
