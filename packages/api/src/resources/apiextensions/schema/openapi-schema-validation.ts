// All rules of the schema of a custom kind, in their order: its root, its structure, its defaults, and each keyword.

import { type FieldError, forbidden, invalid } from '../../api/field-error.js'
import { joined } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import { validateRuleExpressions } from './definition-expressions.js'
import { isSet, type JsonSchema } from './json-schema.js'
import { unsupportedKeyword, validateSchemaRules } from './schema-rules.js'
import { validateStructural } from './structural-rules.js'
import { validateDefaults } from './values/default-rules.js'

export interface SchemaUse {
  /** Whether the status is written by a subresource of its own, and so validated apart from the rest. */
  readonly hasStatus: boolean
}

export function validateOpenApiSchema(schema: JsonSchema, path: string, { hasStatus }: SchemaUse): readonly FieldError[] {
  const unsupported = unsupportedKeyword(schema)
  const structure = unsupported === undefined ? validateStructure(schema, path) : noErrors
  const faulty = new Set<string>()
  const keywords = validateSchemaRules(schema, path, faulty)
  const errors = joined(
    hasStatus ? validateRootWithStatus(schema, path) : noErrors,
    schema.nullable === true ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')] : noErrors,
    structure,
    keywords,
    // Expressions need types, which only a structure has; those beside something else that is wrong are looked at all the same.
    unsupported === undefined && structure.length === 0 ? validateRuleExpressions(schema, path, faulty) : noErrors,
  )
  return errors.length > 0 || unsupported === undefined ? errors : [invalid(path, '', unsupported)]
}

/** Defaults are looked at once the structure tells what belongs where. */
function validateStructure(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors = validateStructural(schema, path)
  return errors.length > 0 ? errors : validateDefaults(schema, path)
}

/** At the root, what would get lost when the status is validated by itself is not allowed. By keyword, what messages call it. */
const allowedWithStatus: { readonly [keyword: string]: string } = {
  description: 'Description',
  type: 'Type',
  format: 'Format',
  title: 'Title',
  maximum: 'Maximum',
  exclusiveMaximum: 'ExclusiveMaximum',
  minimum: 'Minimum',
  exclusiveMinimum: 'ExclusiveMinimum',
  maxLength: 'MaxLength',
  minLength: 'MinLength',
  pattern: 'Pattern',
  maxItems: 'MaxItems',
  minItems: 'MinItems',
  uniqueItems: 'UniqueItems',
  multipleOf: 'MultipleOf',
  required: 'Required',
  items: 'Items',
  properties: 'Properties',
  externalDocs: 'ExternalDocs',
  example: 'Example',
  'x-kubernetes-preserve-unknown-fields': 'XPreserveUnknownFields',
  'x-kubernetes-validations': 'XValidations',
}

/** One error ends the look at a root: of these, before that of its type. */
const lookedAtFirst: ReadonlySet<string> = new Set(['id', '$schema', '$ref'])

function validateRootWithStatus(schema: JsonSchema, path: string): readonly FieldError[] {
  const { type } = schema
  const refused = Object.keys(schema).filter(
    (name) => !Object.hasOwn(allowedWithStatus, name) && isSet(name, schema[name as keyof JsonSchema]),
  )
  if (isSet('type', type) && type !== 'object' && !refused.some((name) => lookedAtFirst.has(name))) {
    const problem = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalid(`${path}.type`, type, problem)]
  }
  if (refused.length === 0) return noErrors
  const names = Object.values(allowedWithStatus).join(' ')
  return [invalid(path, schema, `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`)]
}
