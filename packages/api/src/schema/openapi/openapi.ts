// The OpenAPI reading of schemas: named types become definitions that others refer to, everything else is written where it is used.
// Nothing is kept: documents are built seldom, and their trees are large.

import { type Field, type ListNode, resolve, type SchemaNode, type StructNode } from './node.js'
import { namedScalar } from './openapi-scalars.js'

export type OpenApiVersion = 2 | 3
export type JsonSchema = { readonly [keyword: string]: unknown }

export interface PublishedKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** What a schema does not know: whose it is, how its types are called, and what is said about them. */
export interface Publication {
  readonly version: OpenApiVersion
  /** The full name of a type of a package. */
  readonly nameOf: (home: string, name: string) => string
  /** One sentence about a type, or about one of its fields. */
  readonly describe: (type: string, field?: string) => string | undefined
  /** The kinds as which a type is sent and received; none for most. */
  readonly kindsOf: (node: StructNode) => readonly PublishedKind[]
  /** What is published for a type that somebody else described, in words that the schema language does not have. */
  readonly writtenFor?: (node: StructNode, schemaOf: Definitions['schemaOf']) => JsonSchema | undefined
}

/** A type that is published under a name, and whose it is. */
export interface NamedType {
  readonly home: string
  readonly name: string
  readonly node: Exclude<SchemaNode, { type: 'lazy' }>
}

export interface Definitions {
  /** What stands for a node where it is used. The types that it refers to are among those that are to be defined from then on. */
  readonly schemaOf: (node: SchemaNode) => JsonSchema
  /** What was referred to so far, by full names. It grows while definitions are made. */
  readonly referred: ReadonlyMap<string, NamedType>
  /** The definition of one of these. */
  readonly define: (type: NamedType) => JsonSchema
}

export function openDefinitions(publication: Publication): Definitions {
  const referred = new Map<string, NamedType>()
  const reading: Reading = { publication, referred, schemaOf: (node) => read(reading, resolve(node)) }
  return { schemaOf: reading.schemaOf, referred, define: (type) => define(reading, type) }
}

interface Reading extends Pick<Definitions, 'schemaOf'> {
  readonly publication: Publication
  readonly referred: Map<string, NamedType>
}

/** The definitions of all that was referred to, and of what these refer to, one at a time. */
export function* defineAll({ referred, define }: Definitions): Generator<readonly [name: string, schema: JsonSchema], void, void> {
  // What definitions refer to is added to the end while it is walked.
  for (const [name, type] of referred) yield [name, define(type)]
}

function read(reading: Reading, node: Exclude<SchemaNode, { type: 'lazy' }>): JsonSchema {
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
      return { type: 'array', items: element(reading, node.item), ...listMarks(node) }
    case 'map':
      return {
        type: 'object',
        additionalProperties: element(reading, node.value),
        ...(node.mapType && { 'x-kubernetes-map-type': node.mapType }),
      }
    case 'struct':
      return node.home === undefined ? structSchema(reading, node) : refer(reading, { home: node.home, name: node.name, node })
    case 'time':
    case 'duration':
    case 'quantity':
    case 'intOrString':
    case 'any': {
      const { home, name } = namedScalar(node)
      return refer(reading, { home, name, node })
    }
  }
}

function define(reading: Reading, { name, node }: NamedType): JsonSchema {
  if (node.type === 'struct') return definition(reading, node)
  return { ...described(reading, name), ...namedScalar(node as Parameters<typeof namedScalar>[0]).schema(reading.publication.version) }
}

const definitionsAt: { readonly [Version in OpenApiVersion]: string } = { 2: '#/definitions/', 3: '#/components/schemas/' }

function refer({ publication, referred }: Reading, type: NamedType): JsonSchema {
  const fullName = publication.nameOf(type.home, type.name)
  if (!referred.has(fullName)) referred.set(fullName, type)
  return { $ref: `${definitionsAt[publication.version]}${fullName}` }
}

/** A schema and what is said of one use of it. Beside a reference version 3 allows nothing, so there the reference moves inside. */
function withMarks({ publication }: Reading, schema: JsonSchema, marks: JsonSchema): JsonSchema {
  const isReference = '$ref' in schema
  if (!isReference || publication.version === 2 || Object.keys(marks).length === 0) return { ...schema, ...marks }
  return { ...marks, allOf: [schema] }
}

function described({ publication }: Reading, type: string, field?: string): JsonSchema {
  const description = publication.describe(type, field)
  return description === undefined ? {} : { description }
}

function definition(reading: Reading, node: StructNode): JsonSchema {
  const kinds = reading.publication.kindsOf(node)
  return {
    ...(reading.publication.writtenFor?.(node, reading.schemaOf) ?? structSchema(reading, node)),
    ...(kinds.length > 0 && { 'x-kubernetes-group-version-kind': kinds }),
  }
}

function structSchema(reading: Reading, node: StructNode): JsonSchema {
  const fields = Object.entries(node.fields)
  const required = fields.flatMap(([name, field]) => (field.required ? [name] : []))
  const properties = [
    ...(node.typeMeta ? typeMeta.map((name): Property => [name, { type: 'string', ...described(reading, node.name, name) }]) : []),
    ...fields.map(([name, field]): Property => [name, property(reading, field, described(reading, node.name, name))]),
  ]
  return {
    ...described(reading, node.name),
    type: 'object',
    ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
    ...(required.length > 0 && { required }),
    ...(node.rest && restMarks(reading, node.rest)),
    ...(node.mapType && { 'x-kubernetes-map-type': node.mapType }),
    ...(node.unions && { 'x-kubernetes-unions': node.unions.map(unionMark) }),
  }
}

type Property = readonly [name: string, schema: JsonSchema]

const typeMeta = ['apiVersion', 'kind'] as const

/** Members of no known type are kept as they are, which only the extension says. */
const restMarks = (reading: Reading, rest: SchemaNode): JsonSchema =>
  resolve(rest).type === 'any' ? { 'x-kubernetes-preserve-unknown-fields': true } : { additionalProperties: reading.schemaOf(rest) }

const unionMark = ({ discriminator, values }: NonNullable<StructNode['unions']>[number]): JsonSchema => ({
  discriminator,
  'fields-to-discriminateBy': values,
})

const property = (reading: Reading, field: Field, description: JsonSchema): JsonSchema =>
  withMarks(reading, reading.schemaOf(field.node), {
    ...description,
    ...(reading.publication.version === 3 && 'default' in field && { default: field.default }),
    ...(field.enum && !field.enumOpen && { enum: field.enum }),
    ...(field.mapType && { 'x-kubernetes-map-type': field.mapType }),
    ...(field.listType && { 'x-kubernetes-list-type': field.listType }),
    ...(field.patchMergeKey && { 'x-kubernetes-patch-merge-key': field.patchMergeKey }),
    ...(field.patchStrategy && { 'x-kubernetes-patch-strategy': field.patchStrategy }),
  })

const listMarks = ({ listType, keys, patchStrategy, patchMergeKey }: ListNode): JsonSchema => ({
  ...(listType && { 'x-kubernetes-list-type': listType }),
  ...(keys && { 'x-kubernetes-list-map-keys': keys }),
  ...(patchMergeKey && { 'x-kubernetes-patch-merge-key': patchMergeKey }),
  ...(patchStrategy && { 'x-kubernetes-patch-strategy': patchStrategy }),
})

/** An item of a list or a value of a map: it is never absent, and version 3 says so with its zero value. */
function element(reading: Reading, node: SchemaNode): JsonSchema {
  const schema = reading.schemaOf(node)
  const zero = zeroOf(resolve(node))
  return reading.publication.version === 2 || zero === undefined ? schema : withMarks(reading, schema, { default: zero })
}

function zeroOf(node: Exclude<SchemaNode, { type: 'lazy' }>): unknown {
  switch (node.type) {
    case 'string':
      return ''
    case 'boolean':
      return false
    case 'integer':
    case 'number':
      return 0
    case 'bytes':
    case 'list':
    case 'map':
      return undefined
    default:
      return {}
  }
}
