// The rules of owner references: complete, not an event, at most one of them a controller, and none of them twice.

import { type FieldError, invalid } from '../field-error.js'
import { type ApiObject, type OwnerReference, withMetadata } from '../object.js'
import { noErrors } from './fields.js'
import { sameValue } from './same-value.js'

/**
 * The object with each of its owners once. Only what is the same in every field is the same owner; the client is told.
 * Of a patch it is told in other words, for there the object is looked at after it was admitted.
 */
export function withDistinctOwners(object: ApiObject, warn: (text: string) => void, isPatched = false): ApiObject {
  const owners = object.metadata?.ownerReferences
  if (owners === undefined || owners.length < 2) return object
  const byUid = new Map<string | undefined, OwnerReference[]>()
  const repeated: string[] = []
  const distinct = owners.filter((owner) => {
    const known = byUid.get(owner.uid) ?? []
    byUid.set(owner.uid, known)
    if (known.some((other) => sameValue(other, owner))) {
      repeated.push(owner.uid ?? '')
      return false
    }
    known.push(owner)
    return true
  })
  if (repeated.length === 0) return object
  const when = isPatched ? ' after mutating admission happens' : ''
  warn(`.metadata.ownerReferences contains duplicate entries${when}; ${advice}; duplicate UID(s) observed: ${repeated.join(', ')}`)
  return withMetadata(object, { ownerReferences: distinct })
}

/** The words that clients know. */
const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests'

export function validateOwnerReferences(owners: readonly OwnerReference[] | undefined, field: string): readonly FieldError[] {
  if (owners === undefined) return noErrors
  const errors: FieldError[] = []
  let controller: string | undefined
  for (const owner of owners) {
    errors.push(...validateOwner(owner, field))
    if (owner.controller !== true) continue
    const name = `${owner.kind ?? ''}/${owner.name ?? ''}`
    if (controller === undefined) controller = name
    else {
      const both = `Found "true" in references for ${controller} and ${name}`
      errors.push(invalid(field, owners, `Only one reference can have Controller set to true. ${both}`))
    }
  }
  return errors
}

function validateOwner(owner: OwnerReference, field: string): readonly FieldError[] {
  const { apiVersion = '', kind = '', name = '', uid = '' } = owner
  const errors: FieldError[] = []
  if (!groupVersion.test(apiVersion)) errors.push(invalid(`${field}.apiVersion`, apiVersion, 'version must not be empty'))
  if (kind === '') errors.push(invalid(`${field}.kind`, kind, 'kind must not be empty'))
  if (name === '') errors.push(invalid(`${field}.name`, name, 'name must not be empty'))
  if (uid === '') errors.push(invalid(`${field}.uid`, uid, 'uid must not be empty'))
  // Events expire on their own and would take what they own with them.
  if (apiVersion === 'v1' && kind === 'Event') errors.push(invalid(field, owner, '/v1, Kind=Event is disallowed from being an owner'))
  return errors
}

/** `v1` and `apps/v1` fit; `apps/`, `a/b/c` and nothing do not. */
const groupVersion = /^(?:[^/]*\/)?[^/]+$/
