// The subresources of a custom kind: where a scale finds its numbers in the object.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateSimplePath } from './simple-path.js'
import type { CustomResourceSubresources } from './v1.schema.js'

export function validateSubresources(subresources: CustomResourceSubresources | undefined, field: string): readonly FieldError[] {
  if (subresources?.scale === undefined) return noErrors
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = subresources.scale
  return joined(
    checkNeededPath(specReplicasPath, `${field}.scale.specReplicasPath`, '.spec'),
    checkNeededPath(statusReplicasPath, `${field}.scale.statusReplicasPath`, '.status'),
    labelSelectorPath === '' ? noErrors : checkPath(labelSelectorPath, `${field}.scale.labelSelectorPath`, '.spec', '.status'),
  )
}

const checkNeededPath = (path: string, field: string, root: string): readonly FieldError[] =>
  path === '' ? [required(field)] : checkPath(path, field, root)

function checkPath(path: string, field: string, ...roots: readonly string[]): readonly FieldError[] {
  const errors = validateSimplePath(path, field)
  if (errors.length > 0 || roots.some((root) => path.startsWith(`${root}.`))) return errors
  const where = roots.length === 1 ? (roots[0] ?? '') : `either ${roots.join(' or ')}`
  return [invalid(field, path, `should be a json path under ${where}`)]
}
