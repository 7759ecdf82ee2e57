// Looking for something anywhere in a schema.

import { additionalSchema, defaultOf, itemSchema, itemSchemas, type JsonSchema, schemasOf } from './json-schema.js'

/** The schemas directly inside of a schema. */
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

/** Whether one of the schemas directly inside of a schema is such, without making a list of them: every start asks it of every definition. */
export function someInner(schema: JsonSchema, isSuch: (inner: JsonSchema) => boolean): boolean {
  const { items, additionalProperties, not, allOf, anyOf, oneOf, properties } = schema
  if (items !== undefined && (Array.isArray(items) ? items.some(isSuch) : isSuch(items as JsonSchema))) return true
  if (typeof additionalProperties === 'object' && isSuch(additionalProperties)) return true
  if (not !== undefined && isSuch(not)) return true
  if (allOf?.some(isSuch) || anyOf?.some(isSuch) || oneOf?.some(isSuch)) return true
  for (const name in properties) if (isSuch(properties[name] as JsonSchema)) return true
  return false
}

export const hasDefaults = (schema: JsonSchema): boolean => defaultOf(schema) !== undefined || someInner(schema, hasDefaults)

/** The schema with each of those directly inside of it changed. */
export function mapSchemas(schema: JsonSchema, change: (inner: JsonSchema) => JsonSchema): JsonSchema {
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
