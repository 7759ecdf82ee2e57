// From the structural schema of a custom kind to the schema language, so that its objects take the way of all others.
//
// Nodes are loose: a value of another type than the schema says is read as it is, and refused by validation, with the path and the words
// that the schema asks for.

import { objectMeta } from '../../../api/meta.schema.js'
import {
  type Field,
  type FieldTable,
  type LazyNode,
  type ListNode,
  lazy,
  resolve,
  type SchemaNode,
  type StructNode,
} from '../../../schema/node.js'
import {
  additionalSchema,
  defaultOf,
  isEmbedded,
  isIntOrString,
  isResourceMember,
  itemSchema,
  type JsonSchema,
  keepsUnknown,
  schemasOf,
} from '../json-schema.js'

const anything: SchemaNode = { type: 'any', form: 'json', granular: true }
const looseString: SchemaNode = { type: 'string', loose: true }

/** What an object is must be a text wherever it stands: no other value is even read. */
const word: SchemaNode = { type: 'string' }

/** Fields keep what was sent, zero values included. */
const field = (node: SchemaNode, schema: JsonSchema): Field => ({
  node,
  pointer: true,
  ...(defaultOf(schema) === undefined ? {} : { default: schema.default as never }),
})

/** The objects of one version of a custom kind. */
export function structOfKind(kind: string, schema: JsonSchema): StructNode {
  const own = schemasOf(schema.properties).filter(([name]) => !isResourceMember(name))
  return {
    type: 'struct',
    name: kind,
    typeMeta: true,
    noProto: true,
    // Metadata first: entries of the store have their version in there.
    fields: { metadata: { node: objectMeta }, ...Object.fromEntries(own.map(([name, each]) => [name, field(later(each, name), each)])) },
    ...(keepsUnknown(schema) ? { rest: anything } : {}),
  }
}

/** Made when the first object is read or written: of many kinds there are none for as long as a server runs. */
function later(schema: JsonSchema, name: string): SchemaNode {
  let made: ReturnType<LazyNode['resolve']> | undefined
  return lazy(() => {
    made ??= resolve(nodeOf(schema, name))
    return made
  })
}

const fieldsOf = (schemas: readonly (readonly [name: string, schema: JsonSchema])[]): FieldTable =>
  Object.fromEntries(schemas.map(([name, schema]) => [name, field(nodeOf(schema, name), schema)]))

const nodeOf = (schema: JsonSchema, name: string): SchemaNode => {
  const node = plainNode(schema, name)
  // In place of a null that may not be there a default is filled in.
  return (schema.nullable === true || defaultOf(schema) !== undefined) && node.type !== 'any'
    ? ({ ...node, nullable: true } as SchemaNode)
    : node
}

function plainNode(schema: JsonSchema, name: string): SchemaNode {
  if (isIntOrString(schema)) return { type: 'intOrString', loose: true }
  switch (schema.type) {
    case 'object':
      return objectNode(schema, name)
    case 'array':
      return listNode(schema, name)
    case 'string':
      return looseString
    case 'boolean':
      return { type: 'boolean', loose: true }
    case 'integer':
      return { type: 'integer', bits: 64, loose: true }
    case 'number':
      return { type: 'number', loose: true }
    default:
      return anything
  }
}

function objectNode(schema: JsonSchema, name: string): SchemaNode {
  const mapType = schema['x-kubernetes-map-type'] === 'atomic' ? ({ mapType: 'atomic' } as const) : {}
  const values = additionalSchema(schema)
  if (values !== undefined) return { type: 'map', value: nodeOf(values, name), loose: true, ...mapType }
  if (schema.additionalProperties === true) return { type: 'map', value: anything, loose: true, ...mapType }
  const own = isEmbedded(schema)
    ? schemasOf(schema.properties).filter(([member]) => !isResourceMember(member))
    : schemasOf(schema.properties)
  const resource: FieldTable = isEmbedded(schema)
    ? {
        apiVersion: field(word, {}),
        kind: field(word, {}),
        metadata: { node: { ...objectMeta, loose: true }, pointer: true },
      }
    : {}
  return {
    type: 'struct',
    name,
    loose: true,
    fields: { ...resource, ...fieldsOf(own) },
    ...mapType,
    ...(keepsUnknown(schema) ? { rest: anything } : {}),
  }
}

function listNode(schema: JsonSchema, name: string): ListNode {
  const items = itemSchema(schema)
  const type = schema['x-kubernetes-list-type']
  return {
    type: 'list',
    item: items === undefined ? anything : nodeOf(items, name),
    loose: true,
    listType: type === 'set' || type === 'map' ? type : 'atomic',
    ...(type === 'map' ? { keys: schema['x-kubernetes-list-map-keys'] ?? [] } : {}),
  }
}
