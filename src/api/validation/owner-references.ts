// The rules of owner references: complete, not an event, and at most one of them a controller.

import { type FieldError, invalid } from '../field-error.js'
import type { OwnerReference } from '../object.js'
import { noErrors } from './fields.js'

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
