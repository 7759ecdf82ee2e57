// The JSON schemas of custom kinds, as their authors write them, and ways to walk through one.

import { compareText } from '../../base/text-order.js'

export interface JsonSchema {
  readonly id?: string
  readonly $schema?: string
  readonly $ref?: string
  readonly description?: string
  readonly type?: string
  readonly format?: string
  readonly title?: string
  readonly default?: unknown
  readonly maximum?: number
  readonly exclusiveMaximum?: boolean
  readonly minimum?: number
  readonly exclusiveMinimum?: boolean
  readonly maxLength?: number
  readonly minLength?: number
  readonly pattern?: string
  readonly maxItems?: number
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly multipleOf?: number
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

/** The one schema of all items; undefined where there is none, or a schema for each. */
export const itemSchema = ({ items }: JsonSchema): JsonSchema | undefined => (isList(items) ? undefined : items)

/** Schemas for the items one by one, which the API does not support. */
export const itemSchemas = ({ items }: JsonSchema): readonly JsonSchema[] => (isList(items) ? items : [])

/** The schema of members that have none of their own, where it is one and not just a yes or no. */
export const additionalSchema = ({ additionalProperties: additional }: JsonSchema): JsonSchema | undefined =>
  typeof additional === 'object' ? additional : undefined

/** The members of a map of schemas, in an order that does not depend on how they were sent. */
export const schemasOf = (schemas: SchemaMap | undefined): readonly (readonly [name: string, schema: JsonSchema])[] =>
  Object.entries(schemas ?? {}).sort(([a], [b]) => compareText(a, b))

export const keepsUnknown = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true
export const isEmbedded = (schema: JsonSchema): boolean => schema['x-kubernetes-embedded-resource'] === true
export const isIntOrString = (schema: JsonSchema): boolean => schema['x-kubernetes-int-or-string'] === true

/** The members that every object of the API has, whatever its schema says. */
export const isResourceMember = (name: string): boolean => name === 'apiVersion' || name === 'kind' || name === 'metadata'

/** What is filled in; a default of null is none. */
export const defaultOf = (schema: JsonSchema | undefined): unknown => schema?.default ?? undefined

/** Keywords of which these values mean the same as leaving them out; the others count as soon as they are there. */
const flags: ReadonlySet<string> = new Set([
  'nullable',
  'uniqueItems',
  'exclusiveMaximum',
  'exclusiveMinimum',
  'x-kubernetes-embedded-resource',
  'x-kubernetes-int-or-string',
])
const texts: ReadonlySet<string> = new Set(['id', '$schema', 'type', 'format', 'title', 'description', 'pattern'])

/** Whether a keyword says anything. */
export function isSet(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false
  return !(flags.has(name) && value === false) && !(texts.has(name) && value === '')
}
