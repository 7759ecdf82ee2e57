// The rules of metadata inside a template, from which other objects are made: labels and annotations, and nothing else.

import { type FieldError, forbidden } from '../field-error.js'
import type { ObjectMeta } from '../object.js'
import { validateAnnotations, validateLabels } from './labels.js'

/** Fields that the made object gets from elsewhere, with the name under which an error reports them. */
const refused: readonly { readonly name: keyof ObjectMeta; readonly reported?: string }[] = [
  { name: 'name' },
  { name: 'generateName' },
  { name: 'namespace' },
  { name: 'selfLink' },
  { name: 'uid', reported: 'uID' },
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
    ...refused
      .filter(({ name }) => meta[name] !== undefined)
      .map(({ name, reported }) => forbidden(`${path}.${reported ?? name}`, 'cannot be set')),
  ]
}
