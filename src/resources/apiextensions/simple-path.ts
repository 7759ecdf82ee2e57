// Paths into custom objects, such as `.spec.replicas`.

import { type FieldError, invalid } from '../../api/field-error.js'
import { noErrors } from '../../api/validation/fields.js'

export const validateSimplePath = (path: string, field: string): readonly FieldError[] =>
  path.startsWith('.') ? noErrors : [invalid(field, path, 'must be a simple json path starting with .')]
