// OpenAPI v2 and v3 of schemas: named types become definitions, other types are inlined. Callers cache the result.

import { type Field, type ListNode, resolve, type SchemaNode, type StructNode } from '../node.js'
import { type JsonSchema, namedScalar, type OpenApiVersion } from './openapi-scalars.js'

export type { JsonSchema, OpenApiVersion } from './openapi-scalars.js'

export interface PublishedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export interface Publication {
  readonly version: OpenApiVersion
  readonly nameOf: (home: string, name: string) => string
  readonly describe: (type: string, field?: string) => string | undefined
  readonly kindsOf: (node: StructNode) => readonly PublishedKind[]
  /** Schema of a CustomResourceDefinition, which replaces the derived one. */
  readonly customSchemaFor?: (node: StructNode, schemaOf: Definitions['schemaOf']) => JsonSchema | undefined
}

export interface NamedType {
  readonly home: string
  readonly name: string
  readonly node: Exclude<SchemaNode, { type: 'lazy' }>
}

export interface Definitions {
  readonly schemaOf: (node: SchemaNode) => JsonSchema
  /** Named types that a schema refers to, filled by `schemaOf` and `define`. */
  readonly referred: ReadonlyMap<string, NamedType>
  readonly define: (type: NamedType) => JsonSchema
}

export function openDefinitions(publication: Publication): Definitions {
  const referred = new Map<string, NamedType>()
  const context: SchemaContext = { publication, referred, schemaOf: (node) => schemaOfNode(context, resolve(node)) }
  return { schemaOf: context.schemaOf, referred, define: (type) => define(context, type) }
}

interface SchemaContext extends Pick<Definitions, 'schemaOf'> {
  readonly publication: Publication
  readonly referred: Map<string, NamedType>
}

export function* defineAll({ referred, define }: Definitions): Generator<readonly [name: string, schema: JsonSchema], void, void> {
  for (const [name, type] of referred) yield [name, define(type)]
}

function schemaOfNode(context: SchemaContext, node: Exclude<SchemaNode, { type: 'lazy' }>): JsonSchema {
  switch (node.type) {
    case 'string':
    case 'boolean':
      return { type: node.type }
    case 'integer':
      return { type: 'integer', format: `int${node.bits}` }
    case 'number':
      return { type: 'number', format: 'double' }
    case 'bytes':
      return { type: 'string', format: 'byte' }
    case 'list':
      return { type: 'array', items: elementSchema(context, node.item), ...listKeywords(node) }
    case 'map':
      return {
        type: 'object',
        additionalProperties: elementSchema(context, node.value),
        ...(node.mapType && { 'x-kubernetes-map-type': node.mapType }),
      }
    case 'struct':
      return node.home === undefined ? structSchema(context, node) : refer(context, { home: node.home, name: node.name, node })
    case 'time':
    case 'duration':
    case 'quantity':
    case 'intOrString':
    case 'any': {
      const { home, name } = namedScalar(node)
      return refer(context, { home, name, node })
    }
  }
}

function define(context: SchemaContext, { name, node }: NamedType): JsonSchema {
  if (node.type === 'struct') return definition(context, node)
  return { ...described(context, name), ...namedScalar(node as Parameters<typeof namedScalar>[0]).schema(context.publication.version) }
}

const referencePrefix: { readonly [Version in OpenApiVersion]: string } = { 2: '#/definitions/', 3: '#/components/schemas/' }

function refer({ publication, referred }: SchemaContext, type: NamedType): JsonSchema {
  const fullName = publication.nameOf(type.home, type.name)
  if (!referred.has(fullName)) referred.set(fullName, type)
  return { $ref: `${referencePrefix[publication.version]}${fullName}` }
}

/** OpenAPI v3 allows no keywords next to `$ref`, so the `$ref` moves into `allOf`. */
function withKeywords({ publication }: SchemaContext, schema: JsonSchema, keywords: JsonSchema): JsonSchema {
  const isReference = '$ref' in schema
  if (!isReference || publication.version === 2 || Object.keys(keywords).length === 0) return { ...schema, ...keywords }
  return { ...keywords, allOf: [schema] }
}

function described({ publication }: SchemaContext, type: string, field?: string): JsonSchema {
  const description = publication.describe(type, field)
  return description === undefined ? {} : { description }
}

function definition(context: SchemaContext, node: StructNode): JsonSchema {
  const kinds = context.publication.kindsOf(node)
  return {
    ...(context.publication.customSchemaFor?.(node, context.schemaOf) ?? structSchema(context, node)),
    ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds }),
  }
}

function structSchema(context: SchemaContext, node: StructNode): JsonSchema {
  const fields = Object.entries(node.fields)
  const required = fields.flatMap(([name, field]) => (field.required ? [name] : []))
  const properties = [
    ...(node.typeMeta ? typeMeta.map((name): Property => [name, { type: 'string', ...described(context, node.name, name) }]) : []),
    ...fields.map(([name, field]): Property => [name, property(context, field, described(context, node.name, name))]),
  ]
  return {
    ...described(context, node.name),
    type: 'object',
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...(node.rest && restKeywords(context, node.rest)),
    ...(node.mapType && { 'x-kubernetes-map-type': node.mapType }),
    ...(node.unions && { 'x-kubernetes-unions': node.unions.map(unionKeyword) }),
  }
}

type Property = readonly [name: string, schema: JsonSchema]

const typeMeta = ['apiVersion', 'kind'] as const

/** Unstructured members are published as preserve-unknown-fields, typed ones as additionalProperties. */
const restKeywords = (context: SchemaContext, rest: SchemaNode): JsonSchema =>
  resolve(rest).type === 'any' ? { 'x-kubernetes-preserve-unknown-fields': true } : { additionalProperties: context.schemaOf(rest) }

const unionKeyword = ({ discriminator, values }: NonNullable<StructNode['unions']>[number]): JsonSchema => ({
  discriminator,
  'fields-to-discriminateBy': values,
})

const property = (context: SchemaContext, field: Field, description: JsonSchema): JsonSchema =>
  withKeywords(context, context.schemaOf(field.node), {
    ...description,
    ...(context.publication.version === 3 && 'default' in field && { default: field.default }),
    ...(field.enum && { enum: field.enum }),
    ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
  })

const listKeywords = ({ listType, keys, patchStrategy, patchMergeKey }: ListNode): JsonSchema => ({
  ...(listType && { 'x-kubernetes-list-type': listType }),
  ...(keys && { 'x-kubernetes-list-map-keys': keys }),
  ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
  ...(patchStrategy && { 'x-kubernetes-patch-strategy': patchStrategy }),
})

function elementSchema(context: SchemaContext, node: SchemaNode): JsonSchema {
  const schema = context.schemaOf(node)
  const zero = zeroOf(resolve(node))
  return context.publication.version === 2 || zero === undefined ? schema : withKeywords(context, schema, { default: zero })
}

const zeroDefaults = { string: '', boolean: false, integer: 0, number: 0, bytes: undefined, list: undefined, map: undefined }

const zeroOf = ({ type }: SchemaNode): unknown => (type in zeroDefaults ? zeroDefaults[type as keyof typeof zeroDefaults] : {})
