// Validation of metadata.finalizers: names, mutually exclusive finalizers, no additions to a terminating object.

import { sortTexts } from '../../../base/text-order.js'
import { type FieldError, forbidden, invalid } from '../../field-error.js'
import type { Identity } from '../../identity.js'
import { checkText, noErrors } from '../checks.js'
import { qualifiedName } from '../name-formats.js'

const orphanFinalizer = 'orphan'
const foregroundFinalizer = 'foregroundDeletion'

const standardByIdentity = new WeakMap<Identity, readonly string[]>()

export function standardFinalizers(identity: Identity): readonly string[] {
  const known = standardByIdentity.get(identity)
  if (known !== undefined) return known
  const standard = Object.freeze([identity.self, orphanFinalizer, foregroundFinalizer])
  standardByIdentity.set(identity, standard)
  return standard
}

export function validateFinalizers(finalizers: readonly string[] | undefined, field: string): readonly FieldError[] {
  if (finalizers === undefined) return noErrors
  const errors = finalizers.flatMap((finalizer) => checkText(finalizer, field, qualifiedName))
  if (finalizers.includes(orphanFinalizer) && finalizers.includes(foregroundFinalizer)) {
    errors.push(invalid(field, finalizers, `finalizer ${orphanFinalizer} and ${foregroundFinalizer} cannot be both set`))
  }
  return errors
}

/** Requires a domain in finalizers of built-in kinds, except in the standard ones. */
export function checkFinalizerDomain(finalizer: string, field: string, standard: readonly string[]): readonly FieldError[] {
  if (finalizer.includes('/') || standard.includes(finalizer)) return noErrors
  return [invalid(field, finalizer, 'name is neither a standard finalizer name nor is it fully qualified')]
}

export function validateFinalizerDomains(
  finalizers: readonly string[] | undefined,
  field: string,
  standard: readonly string[] | undefined,
): readonly FieldError[] {
  if (finalizers === undefined || standard === undefined) return noErrors
  return finalizers.flatMap((finalizer, i) => checkFinalizerDomain(finalizer, `${field}[${i}]`, standard))
}

export function validateNoNewFinalizers(
  next: readonly string[] | undefined,
  old: readonly string[] | undefined,
  field: string,
): readonly FieldError[] {
  const added = sortTexts([...new Set(next)].filter((finalizer) => !old?.includes(finalizer)))
  if (added.length === 0) return noErrors
  const list = JSON.stringify(added)
  return [forbidden(field, `no new finalizers can be added if the object is being deleted, found new finalizers ${list}`)]
}
