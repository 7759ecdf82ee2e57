// How volumes can be used, by how many at a time and as what: words that volumes and claims share.

import type { FeatureGates } from '../../api/definition.js'
import { type FieldError, forbidden, notSupported } from '../../api/field-error.js'
import type { Identity } from '../../api/identity.js'
import type { ObjectMeta } from '../../api/object.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'

export const volumeModes = ['Block', 'Filesystem']

const sharedModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce']
const soleMode = 'ReadWriteOncePod'

/** The modes of a volume: known ones, and one that excludes all others. */
export function validateAccessModes(modes: readonly string[], field: string, gates: FeatureGates): readonly FieldError[] {
  const known = gates(soleMode) ? [...sharedModes, soleMode] : sharedModes
  const isMixed = modes.includes(soleMode) && modes.some((mode) => sharedModes.includes(mode))
  return joined(
    modes.filter((mode) => !known.includes(mode)).map((mode) => notSupported(field, mode, known)),
    isMixed ? [forbidden(field, 'may not use ReadWriteOncePod with other access modes')] : noErrors,
  )
}

const shortModes: readonly (readonly [string, string])[] = [
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  [soleMode, 'RWOP'],
]

/** `RWO,ROX`, as tables show modes. */
export const describeAccessModes = (modes: readonly string[] = []): string =>
  shortModes
    .filter(([mode]) => modes.includes(mode))
    .map(([, short]) => short)
    .join(',')

/** Before there was a field for it, an annotation named the class. */
export const classAnnotation = (identity: Identity): string => identity.label('storage-class', 'volume.beta')

/** The class of a volume or claim; what the annotation says counts. */
export const describeClass = (metadata: ObjectMeta | undefined, named: string | undefined, identity: Identity): string =>
  metadata?.annotations?.[classAnnotation(identity)] ?? named ?? ''
