// All rules of the schema of a custom kind, in their order: its root, its structure, its defaults, and each keyword.

import { type FieldError, forbidden, invalid } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateRuleExpressions } from './definition-expressions.js'
import type { JsonSchema } from './json-schema.js'
import { unsupportedKeyword, validateSchemaRules } from './schema-rules.js'
import { validateStructural } from './structural-rules.js'
import { validateDefaults } from './values/default-rules.js'

export interface SchemaUse {
  /** Whether the status is written by a subresource of its own, and so validated apart from the rest. */
  readonly hasStatus: boolean
}

export function validateOpenApiSchema(schema: JsonSchema, path: string, { hasStatus }: SchemaUse): readonly FieldError[] {
  const unsupported = unsupportedKeyword(schema)
  const errors = joined(
    hasStatus ? validateRootWithStatus(schema, path) : noErrors,
    schema.nullable === true ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')] : noErrors,
    unsupported === undefined ? validateStructure(schema, path) : noErrors,
    validateSchemaRules(schema, path),
  )
  if (errors.length > 0) return errors
  return unsupported === undefined ? validateRuleExpressions(schema, path) : [invalid(path, '', unsupported)]
}

/** Defaults are looked at once the structure tells what belongs where. */
function validateStructure(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors = validateStructural(schema, path)
  return errors.length > 0 ? errors : validateDefaults(schema, path)
}

/** At the root, what would get lost when the status is validated by itself is not allowed. */
const allowedWithStatus = [
  'description',
  'type',
  'format',
  'title',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'pattern',
  'maxItems',
  'minItems',
  'uniqueItems',
  'multipleOf',
  'required',
  'items',
  'properties',
  'externalDocs',
  'example',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-validations',
]

function validateRootWithStatus(schema: JsonSchema, path: string): readonly FieldError[] {
  const { type } = schema
  if (type !== undefined && type !== 'object') {
    const problem = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalid(`${path}.type`, type, problem)]
  }
  if (Object.keys(schema).every((name) => allowedWithStatus.includes(name))) return noErrors
  const problem = `only [${allowedWithStatus.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`
  return [invalid(path, schema, problem)]
}
