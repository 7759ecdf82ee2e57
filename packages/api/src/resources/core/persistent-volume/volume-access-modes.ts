// Access modes, volume modes and storage class annotation, shared by volumes and claims.

import type { FeatureGates, RuleContext } from '../../../api/definition/resource-definition.js'
import { type FieldError, forbidden, notSupported } from '../../../api/field-error.js'
import type { Identity } from '../../../api/identity.js'
import type { ApiObject } from '../../../api/object.js'
import { joined, noErrors } from '../../../api/validation/checks.js'

export const volumeModes = ['Block', 'Filesystem']

const sharedModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const singlePodMode = 'ReadWriteOncePod'

export function validateAccessModes(modes: readonly string[], field: string, gates: FeatureGates): readonly FieldError[] {
  const known = gates(singlePodMode) ? [...sharedModes, singlePodMode] : sharedModes
  const isMixed = modes.includes(singlePodMode) && modes.some((mode) => sharedModes.includes(mode))
  return joined(
    modes.filter((mode) => !known.includes(mode)).map((mode) => notSupported(field, mode, known)),
    isMixed ? [forbidden(field, 'may not use ReadWriteOncePod with other access modes')] : noErrors,
  )
}

const shortModes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  [singlePodMode, 'RWOP'],
]

export const describeAccessModes = (modes: readonly string[] = []): string =>
  shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')

/** Deprecated annotation of the storage class. */
export const classAnnotation = (identity: Identity): string => identity.label('storage-class', 'volume.beta')

interface VolumeOrClaim extends ApiObject {
  readonly spec?: { readonly storageClassName?: string }
  readonly status?: { readonly phase?: string }
}

export const describeClass = ({ metadata, spec }: VolumeOrClaim, { identity }: Pick<RuleContext, 'identity'>): string =>
  metadata?.annotations?.[classAnnotation(identity)] ?? spec?.storageClassName ?? ''

export const describePhase = ({ metadata, status }: VolumeOrClaim): string =>
  metadata?.deletionTimestamp === undefined ? (status?.phase ?? '') : 'Terminating'
