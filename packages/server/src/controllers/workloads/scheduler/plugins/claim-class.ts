// The storage class of a claim or a volume, and whether a claim waits for its first consumer.

import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { PersistentVolume, PersistentVolumeClaim } from '@cluster-apiserver/api/resources/core/v1.schema.js'

/** Empty: no class. The old annotation precedes the field. */
export const classOfClaim = ({ metadata, spec }: PersistentVolumeClaim | PersistentVolume, identity: Identity): string =>
  metadata?.annotations?.[identity.label('storage-class', 'volume.beta')] ?? spec?.storageClassName ?? ''

export const isFullyBound = ({ metadata, spec }: PersistentVolumeClaim, identity: Identity): boolean =>
  (spec?.volumeName ?? '') !== '' && metadata?.annotations?.[identity.label('bind-completed', 'pv')] !== undefined
