// Validation of metadata in templates: only labels and annotations are allowed.

import { type FieldError, forbidden } from '../../field-error.js'
import type { ObjectMeta } from '../../object.js'
import { validateAnnotations, validateLabels } from './labels.js'

/** `reportedName`: name in error paths, if it differs. */
const forbiddenFields: readonly { readonly name: keyof ObjectMeta; readonly reportedName?: string }[] = [
  { name: 'name' },
  { name: 'generateName' },
  { name: 'namespace' },
  { name: 'selfLink' },
  { name: 'uid', reportedName: 'uID' },
  { name: 'resourceVersion' },
  { name: 'generation' },
  { name: 'creationTimestamp' },
  { name: 'deletionTimestamp' },
  { name: 'deletionGracePeriodSeconds' },
  { name: 'ownerReferences' },
  { name: 'finalizers' },
  { name: 'managedFields' },
]

export function validateTemplateMeta(meta: ObjectMeta, path: string): readonly FieldError[] {
  return [
    ...validateAnnotations(meta.annotations, `${path}.annotations`),
    ...validateLabels(meta.labels, `${path}.labels`),
    ...forbiddenFields
      .filter(({ name }) => meta[name] !== undefined)
      .map(({ name, reportedName }) => forbidden(`${path}.${reportedName ?? name}`, 'cannot be set')),
  ]
}
