// Rules of schemas that are written as expressions: what they must say besides the expression itself.
// The expression itself is looked at in definition-expressions, once nothing else is wrong with the schema.

import { type FieldError, invalid, required } from '../../api/field-error.js'
import { checkEach } from '../../api/validation/collect.js'
import { noErrors } from '../../api/validation/fields.js'
import type { JsonSchema, SchemaRule } from './json-schema.js'
import { mapSchemas, someInner } from './schema-search.js'

const lineBreak = /[\n\r]/

export const validateExpressions = (rules: readonly SchemaRule[] | undefined, path: string): readonly FieldError[] =>
  checkEach(rules, path, validateRule)

function validateRule({ rule = '', message = '' }: SchemaRule, path: string): readonly FieldError[] {
  const text = message.trim()
  if (rule.trim() === '') return [required(`${path}.rule`, 'rule is not specified')]
  if (message !== '' && text === '') return [invalid(`${path}.message`, message, 'message must be non-empty if specified')]
  if (lineBreak.test(text)) return [invalid(`${path}.message`, message, 'message must not contain line breaks')]
  if (lineBreak.test(rule.trim()) && text === '') {
    return [required(`${path}.message`, 'message must be specified if rule contains line breaks')]
  }
  return noErrors
}

export const hasExpressions = (schema: JsonSchema): boolean =>
  (schema['x-kubernetes-validations'] ?? []).length > 0 || someInner(schema, hasExpressions)

/** The schema without any rule that is written as an expression. */
export function withoutExpressions(schema: JsonSchema): JsonSchema {
  if (!hasExpressions(schema)) return schema
  const { 'x-kubernetes-validations': _, ...rest } = schema
  return mapSchemas(rest, withoutExpressions)
}
