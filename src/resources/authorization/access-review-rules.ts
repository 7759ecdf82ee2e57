// What every question about access must say: one resource or one path, and of whom it is asked.

import { type FieldError, invalid } from '../../api/field-error.js'
import type { ObjectMeta } from '../../api/object.js'
import { noErrors } from '../../api/validation/fields.js'
import type { SelfSubjectAccessReviewSpec, SubjectAccessReviewSpec } from './v1.schema.js'

export function validateAccess({ resourceAttributes, nonResourceAttributes }: SelfSubjectAccessReviewSpec): readonly FieldError[] {
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const problem = 'cannot be specified in combination with resourceAttributes'
    return [invalid('spec.nonResourceAttributes', nonResourceAttributes, problem)]
  }
  if (resourceAttributes !== undefined || nonResourceAttributes !== undefined) return noErrors
  return [invalid('spec.resourceAttributes', undefined, 'exactly one of nonResourceAttributes or resourceAttributes must be specified')]
}

export const validateSubject = ({ user = '', groups = [] }: SubjectAccessReviewSpec): readonly FieldError[] =>
  user === '' && groups.length === 0 ? [invalid('spec.user', user, 'at least one of user or group must be specified')] : noErrors

/** A question is no object: it has no name nor labels. The server's own records of who sent what do not count. */
export function validateNoMetadata(metadata: ObjectMeta = {}, ...allowed: readonly (keyof ObjectMeta)[]): readonly FieldError[] {
  const ignored: readonly string[] = ['managedFields', ...allowed]
  if (Object.entries(metadata).every(([name, value]) => value === undefined || ignored.includes(name))) return noErrors
  return [invalid('metadata', metadata, allowed.length === 0 ? 'must be empty' : `must be empty except for ${allowed.join(', ')}`)]
}
