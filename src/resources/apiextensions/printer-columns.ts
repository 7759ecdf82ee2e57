// The columns that a custom kind adds to its table, each a path into the object.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkPresent, joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateSimplePath } from './simple-path.js'
import type { CustomResourceColumnDefinition as Column } from './v1.schema.js'

const types = ['boolean', 'date', 'integer', 'number', 'string']
const formats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password']

export function validateColumn({ name, type = '', format = '', jsonPath = '' }: Column, field: string): readonly FieldError[] {
  const oneOfTypes = `must be one of ${types.join(',')}`
  return joined(
    checkPresent(name, `${field}.name`),
    type === '' ? [required(`${field}.type`, oneOfTypes)] : noErrors,
    type === '' || types.includes(type) ? noErrors : [invalid(`${field}.type`, type, oneOfTypes)],
    format === '' || formats.includes(format) ? noErrors : [invalid(`${field}.format`, format, `must be one of ${formats.join(',')}`)],
    jsonPath === '' ? [required(`${field}.JSONPath`)] : validateSimplePath(jsonPath, `${field}.JSONPath`),
  )
}
