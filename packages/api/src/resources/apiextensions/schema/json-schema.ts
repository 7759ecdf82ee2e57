// JsonSchema: an OpenAPI v3 schema as written in a CRD, with accessors for its sub-schemas and extensions.

import { compareText } from '../../../base/text-order.js'
import { compileRegex } from '../../../cel/regex/regex.js'

export function patternProblem(pattern: string): string | undefined {
  const compiled = compileRegex(pattern)
  return compiled instanceof Error ? compiled.message : undefined
}

export function matchesPattern(pattern: string, text: string): boolean {
  const compiled = compileRegex(pattern)
  return !(compiled instanceof Error) && compiled.test(text)
}

export interface JsonSchema {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: unknown
  /** A float64; a whole one beyond 2^53 is read from the store as a bigint. */
  readonly maximum?: number | bigint
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number | bigint
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly multipleOf?: number | bigint
  readonly enum?: readonly unknown[]
  readonly maxProperties?: number
  readonly minProperties?: number
  readonly required?: readonly string[]
  readonly items?: JsonSchema | readonly JsonSchema[]
  readonly allOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly not?: JsonSchema
  readonly properties?: SchemaMap
  readonly additionalProperties?: JsonSchema | boolean
  readonly patternProperties?: SchemaMap
  readonly dependencies?: { readonly [name: string]: JsonSchema | readonly string[] }
  readonly additionalItems?: JsonSchema | boolean
  readonly definitions?: SchemaMap
  readonly externalDocs?: object
  readonly example?: unknown
  readonly nullable?: boolean
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean
  readonly 'x-kubernetes-embedded-resource'?: boolean
  readonly 'x-kubernetes-int-or-string'?: boolean
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-list-type'?: string
  readonly 'x-kubernetes-map-type'?: string
  readonly 'x-kubernetes-validations'?: readonly SchemaRule[]
}

export type SchemaMap = { readonly [name: string]: JsonSchema }

export interface SchemaRule {
  readonly rule?: string
  readonly message?: string
}

const isList = (items: JsonSchema['items']): items is readonly JsonSchema[] => Array.isArray(items)

export const itemSchema = ({ items }: JsonSchema): JsonSchema | undefined => (isList(items) ? undefined : items)

export const itemSchemas = ({ items }: JsonSchema): readonly JsonSchema[] => (isList(items) ? items : [])

export const additionalSchema = ({ additionalProperties: additional }: JsonSchema): JsonSchema | undefined =>
  typeof additional === 'object' ? additional : undefined

export const schemasOf = (schemas: SchemaMap | undefined): readonly (readonly [name: string, schema: JsonSchema])[] =>
  Object.entries(schemas ?? {}).sort(([a], [b]) => compareText(a, b))

export const keepsUnknown = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true
export const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true
export const isIntOrString = (schema: JsonSchema): boolean => schema['x-kubernetes-int-or-string'] === true

/** Item schema for pruning, which inherits x-kubernetes-preserve-unknown-fields from the list. */
export function pruningItemSchema(schema: JsonSchema): JsonSchema | undefined {
  const items = itemSchema(schema)
  return items !== undefined && keepsUnknown(schema) ? { ...items, 'x-kubernetes-preserve-unknown-fields': true } : items
}

export const isResourceMember = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata'

export const defaultOf = (schema: JsonSchema | undefined): unknown => schema?.default ?? undefined

/** Keywords whose false value means the same as leaving them out. */
const booleanKeywords: ReadonlySet<string> = new Set([
  'nullable',
  'uniqueItems',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
])
const textKeywords: ReadonlySet<string> = new Set(['id', '$schema', 'type', 'format', 'title', 'description', 'pattern'])

export function isSet(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  return !(booleanKeywords.has(name) && value === false) && !(textKeywords.has(name) && value === '')
}
