// Searches sub-schemas of a JSON schema for defaults and CEL rules, checks the text of the rules, and removes them.

import { type FieldError, invalid, required } from '../../../api/field-error.js'
import { checkEach, noErrors } from '../../../api/validation/checks.js'
import { additionalSchema, defaultOf, itemSchema, itemSchemas, type JsonSchema, type SchemaRule, schemasOf } from './json-schema.js'

export const innerSchemas = (schema: JsonSchema): readonly JsonSchema[] =>
  [
    itemSchema(schema),
    ...itemSchemas(schema),
    additionalSchema(schema),
    schema.not,
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...schemasOf(schema.properties).map(([, inner]) => inner),
  ].filter((inner) => inner !== undefined)

/** Allocates no list: it runs for every CRD at start. */
export function someInner(schema: JsonSchema, predicate: (inner: JsonSchema) => boolean): boolean {
  const { items, additionalProperties, not, allOf, anyOf, oneOf, properties } = schema
  if (items !== undefined && (Array.isArray(items) ? items.some(predicate) : predicate(items as JsonSchema))) return true
  if (typeof additionalProperties === 'object' && predicate(additionalProperties)) return true
  if (not !== undefined && predicate(not)) return true
  if (allOf?.some(predicate) || anyOf?.some(predicate) || oneOf?.some(predicate)) return true
  for (const name in properties) if (predicate(properties[name] as JsonSchema)) return true
  return false
}

export const hasDefaults = (schema: JsonSchema): boolean => defaultOf(schema) !== undefined || someInner(schema, hasDefaults)

function mapSchemas(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
  const next: Record<string, unknown> = { ...schema }
  for (const name of ['items', 'additionalProperties', 'not'] as const) {
    const inner = schema[name]
    if (typeof inner === 'object') next[name] = Array.isArray(inner) ? inner.map(change) : change(inner as JsonSchema)
  }
  for (const name of ['allOf', 'anyOf', 'oneOf'] as const) {
    if (schema[name] !== undefined) next[name] = schema[name].map(change)
  }
  if (schema.properties !== undefined) {
    next['properties'] = Object.fromEntries(Object.entries(schema.properties).map(([name, inner]) => [name, change(inner)]))
  }
  return next
}

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

export function withoutExpressions(schema: JsonSchema): JsonSchema {
  if (!hasExpressions(schema)) return schema
  const { 'x-kubernetes-validations': _, ...rest } = schema
  return mapSchemas(rest, withoutExpressions)
}
