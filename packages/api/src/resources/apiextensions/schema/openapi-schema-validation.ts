// Validates openAPIV3Schema of a CRD version: root, structural schema, defaults, keywords, CEL rules.

import { type FieldError, forbidden, invalid } from '../../../api/field-error.js'
import { joined, noErrors } from '../../../api/validation/checks.js'
import { sentEmptyNames } from '../../../schema/json/sent-empty.js'
import { validateRuleExpressions } from '../validation/crd-cel-rules.js'
import { validateDefaults } from '../values/default-validation.js'
import { isSet, type JsonSchema } from './json-schema.js'
import { unsupportedKeyword, validateSchemaRules } from './schema-keyword-validation.js'
import { validateStructural } from './structural-schema.js'

interface SchemaUse {
  /** True if the version has a status subresource, with which fewer keywords are allowed at the root. */
  readonly hasStatus: boolean
}

export function validateOpenApiSchema(schema: JsonSchema, path: string, { hasStatus }: SchemaUse): readonly FieldError[] {
  const unsupported = unsupportedKeyword(schema)
  const structure = unsupported === undefined ? validateStructure(schema, path) : noErrors
  const invalidPaths = new Set<string>()
  const keywords = validateSchemaRules(schema, path, invalidPaths)
  const errors = joined(
    hasStatus ? validateRootWithStatus(schema, path) : noErrors,
    schema.nullable === true ? [forbidden(`${path}.nullable`, 'nullable cannot be true at the root')] : noErrors,
    structure,
    keywords,
    // CEL rules are validated only in a structural schema; keyword errors skip only the rules of the schemas at `invalidPaths`.
    unsupported === undefined && structure.length === 0 ? validateRuleExpressions(schema, path, invalidPaths) : noErrors,
  )
  return errors.length > 0 || unsupported === undefined ? errors : [invalid(path, '', unsupported)]
}

/** Validates defaults only if the schema is structural. */
function validateStructure(schema: JsonSchema, path: string): readonly FieldError[] {
  const errors = validateStructural(schema, path)
  return errors.length > 0 ? errors : validateDefaults(schema, path)
}

/** Keywords allowed at the root with a status subresource, with their Go names for messages. */
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

/** Keywords whose error precedes that of the type: only the first error at the root is reported. */
const reportedFirst: ReadonlySet<string> = new Set(['id', '$schema', '$ref'])

function validateRootWithStatus(schema: JsonSchema, path: string): readonly FieldError[] {
  const { type } = schema
  const present = Object.keys(schema).filter((name) => isSet(name, schema[name as keyof JsonSchema]))
  const rejected = [...present, ...(sentEmptyNames(schema) ?? [])].filter((name) => !Object.hasOwn(allowedWithStatus, name))
  if (isSet('type', type) && type !== 'object' && !rejected.some((name) => reportedFirst.has(name))) {
    const problem = 'only "object" is allowed as the type at the root of the schema if the status subresource is enabled'
    return [invalid(`${path}.type`, type, problem)]
  }
  if (rejected.length === 0) return noErrors
  const names = Object.values(allowedWithStatus).join(' ')
  return [invalid(path, schema, `only [${names}] fields are allowed at the root of the schema if the status subresource is enabled`)]
}
