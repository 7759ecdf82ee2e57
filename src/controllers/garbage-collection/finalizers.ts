// The two finalizers that are the garbage collector's: what an owner waits for that was deleted with them.

import type { ApiObject } from '../../api/object.js'

export const orphanFinalizer = 'orphan'
export const foregroundFinalizer = 'foregroundDeletion'

const has = ({ metadata }: ApiObject, finalizer: string): boolean => metadata?.finalizers?.includes(finalizer) ?? false

/** It goes when those that depend on it and block it are gone. */
export const isForeground = (object: ApiObject): boolean =>
  object.metadata?.deletionTimestamp !== undefined && has(object, foregroundFinalizer)

/** It goes when nobody depends on it any more. */
export const isOrphaning = (object: ApiObject): boolean => object.metadata?.deletionTimestamp !== undefined && has(object, orphanFinalizer)

/** What becomes of the dependents of an object that is collected: what was asked for before, or they are collected later. */
export const policyOf = (object: ApiObject): 'Orphan' | 'Foreground' | 'Background' =>
  has(object, orphanFinalizer) ? 'Orphan' : has(object, foregroundFinalizer) ? 'Foreground' : 'Background'
