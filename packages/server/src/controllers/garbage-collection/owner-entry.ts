// An object as the garbage collector sees it: its owner references, and the propagation policy that its finalizers request.

import type { ApiObject } from '@cluster-apiserver/api/api/object.js'
import type { OwnedEntry } from '../../objects/owner-index.js'

export interface Entry extends Omit<OwnedEntry, 'revision'> {
  readonly revision: number | string
}

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

const hasFinalizer = ({ metadata }: ApiObject, finalizer: string): boolean => metadata?.finalizers?.includes(finalizer) ?? false

export const isForeground = (object: ApiObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined && hasFinalizer(object, foregroundFinalizer)

export const isOrphaning = (object: ApiObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined && hasFinalizer(object, orphanFinalizer)

export const policyOf = (object: ApiObject): 'Orphan' | 'Foreground' | 'Background' =>
  hasFinalizer(object, orphanFinalizer) ? 'Orphan' : hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
