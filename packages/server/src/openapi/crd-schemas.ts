// OpenAPI schemas of custom kinds: the schema of the CRD with apiVersion, kind and metadata; for v2 without the keywords that v2 lacks.

import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { jsonText } from '@cluster-apiserver/api/schema/json/write.js'
import type { SchemaNode } from '@cluster-apiserver/api/schema/node.js'
import type { JsonSchema, OpenApiVersion } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import type { Publisher } from './published-types.js'

interface SchemaContext {
  readonly describe: Publisher['describe']
  readonly schemaOf: (node: SchemaNode) => JsonSchema
}

interface ObjectProperties {
  readonly apiVersion: JsonSchema
  readonly kind: JsonSchema
  readonly metadata: JsonSchema
}

export function objectProperties(version: OpenApiVersion, { describe, schemaOf }: SchemaContext): ObjectProperties {
  const descriptionOf = (field: string): JsonSchema => ({ description: describe('TypeMeta', field) ?? '' })
  const metadata = schemaOf(meta.objectMeta)
  return {
    apiVersion: { type: 'string', ...descriptionOf('apiVersion') },
    kind: { type: 'string', ...descriptionOf('kind') },
    // OpenAPI v3 allows no keywords next to `$ref`.
    metadata: { ...descriptionOf('metadata'), ...(version === 2 ? metadata : { allOf: [metadata] }) },
  }
}

/** Adds apiVersion, kind and metadata. A v2 schema that preserves unknown fields has no properties: clients would reject other fields. */
export function completeSchema(schema: JsonSchema, version: OpenApiVersion, context: SchemaContext): JsonSchema {
  if (version === 2 && preservesUnknownFields(schema)) return { type: 'object' }
  const declared = schema['properties'] as JsonSchema | undefined
  return { ...schema, type: 'object', properties: { ...declared, ...objectProperties(version, context) } }
}

const preservesUnknownFields = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

const unsupportedInV2: ReadonlySet<string> = new Set(['nullable', 'allOf', 'oneOf', 'anyOf', 'not'])

interface Publishing {
  readonly version: OpenApiVersion
  readonly ofObjects: ObjectProperties
}

/** The v2 schema must accept every value that the server accepts: a value of several types has no type. */
export const publishedSchema = (schema: JsonSchema, version: OpenApiVersion, ofObjects: ObjectProperties): JsonSchema =>
  published(schema, { version, ofObjects })

function published(schema: JsonSchema, publishing: Publishing): JsonSchema {
  const isReduced = publishing.version === 2
  const isOpen = isReduced && (schema['nullable'] === true || preservesUnknownFields(schema))
  const members: (readonly [string, unknown])[] = []
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'example' || (isReduced && unsupportedInV2.has(keyword))) continue
    if (isOpen && (keyword === 'properties' || keyword === 'items')) continue
    members.push([keyword, publishedMember(keyword, value, publishing)])
  }
  const reduced = Object.fromEntries(members)
  return withObjectProperties(isReduced ? withoutTypes(schema, reduced) : withIntOrString(reduced), publishing)
}

function publishedMember(keyword: string, value: unknown, publishing: Publishing): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (keyword === 'items' || keyword === 'additionalProperties') return published(value as JsonSchema, publishing)
  if (keyword !== 'properties') return value
  const properties = Object.entries(value as { readonly [name: string]: JsonSchema })
  return Object.fromEntries(properties.map(([name, each]) => [name, published(each, publishing)]))
}

function withoutTypes(schema: JsonSchema, reduced: JsonSchema): JsonSchema {
  const { type, required, ...rest } = reduced
  const isUntyped =
    schema['nullable'] === true ||
    (type === 'array' && reduced['items'] === undefined) ||
    (type === 'object' && preservesUnknownFields(schema))
  const needed = requiredIn(schema, reduced)
  return {
    ...rest,
    ...(isUntyped || type === undefined ? {} : { type }),
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

/** Required fields, without nullable ones: v2 has no null, so the value of a nullable field may be missing. */
function requiredIn(schema: JsonSchema, reduced: JsonSchema): readonly string[] {
  const required = (reduced['required'] ?? []) as readonly string[]
  const isNullable = (value: unknown): boolean => (value as JsonSchema | undefined)?.['nullable'] === true
  if (isNullable(schema['additionalProperties'])) return []
  if (reduced['properties'] === undefined) return required
  const properties = schema['properties'] as JsonSchema
  return required.filter((name) => !Object.hasOwn(properties, name) || !isNullable(properties[name]))
}

const intOrString: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }]

const isIntOrString = (list: unknown): boolean => jsonText(list) === jsonText(intOrString)

/** Adds an anyOf of integer and string to a schema with x-kubernetes-int-or-string. */
function withIntOrString(schema: JsonSchema): JsonSchema {
  if (schema['x-kubernetes-int-or-string'] !== true) return schema
  const anyOf = schema['anyOf'] as readonly JsonSchema[] | undefined
  const allOf = (schema['allOf'] ?? []) as readonly JsonSchema[]
  if (isIntOrString(anyOf) || isIntOrString(allOf[0]?.['anyOf'])) return schema
  return anyOf === undefined ? { ...schema, anyOf: intOrString } : { ...schema, allOf: [{ anyOf: intOrString }, ...allOf] }
}

function withObjectProperties(schema: JsonSchema, { version, ofObjects }: Publishing): JsonSchema {
  if (schema['x-kubernetes-embedded-resource'] !== true || (version === 2 && preservesUnknownFields(schema))) return schema
  const required = (schema['required'] ?? []) as readonly string[]
  return {
    ...schema,
    properties: { ...(schema['properties'] as JsonSchema | undefined), ...ofObjects },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  }
}
