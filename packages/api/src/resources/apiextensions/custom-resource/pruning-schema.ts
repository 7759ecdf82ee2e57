// Converts the structural schema of a CRD to a schema that prunes. Values of wrong types are kept and rejected by validation.

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
  type JsonSchema,
  keepsUnknown,
  pruningItemSchema,
  schemasOf,
} from '../schema/json-schema.js'

const anything: SchemaNode = { type: 'any', form: 'json', granular: true }
/** Values of `additionalProperties: true` or `false`: scalars and lists are kept, members of objects are pruned. */
const membersPruned: SchemaNode = { type: 'any', form: 'json', granular: true, loose: true, nullable: true }
const looseString: SchemaNode = { type: 'string', loose: true }

/** apiVersion and kind of embedded resources must be strings. */
const strictString: SchemaNode = { type: 'string' }

/** Keeps zero values, as for pointer fields. */
const field = (node: SchemaNode, schema: JsonSchema): Field => ({
  node,
  pointer: true,
  ...(defaultOf(schema) === undefined ? {} : { default: schema.default as never }),
})

export function structOfKind(kind: string, schema: JsonSchema): StructNode {
  const properties = schemasOf(schema.properties).filter(([name]) => !isResourceMember(name))
  return {
    type: 'struct',
    name: kind,
    typeMeta: true,
    noProto: true,
    // Metadata first: stored entries have the resourceVersion at its start.
    fields: {
      metadata: { node: objectMeta },
      ...Object.fromEntries(properties.map(([name, property]) => [name, field(lazyNode(property, name), property)])),
    },
    ...restOf(schema),
  }
}

/** Node of members that `properties` does not name; absent if they are pruned. */
function restOf(schema: JsonSchema): { readonly rest?: SchemaNode } {
  if (typeof schema.additionalProperties === 'boolean') return { rest: membersPruned }
  return keepsUnknown(schema) ? { rest: anything } : {}
}

function lazyNode(schema: JsonSchema, name: string): SchemaNode {
  let node: ReturnType<LazyNode['resolve']> | undefined
  return lazy(() => {
    node ??= resolve(nodeOf(schema, name))
    return node
  })
}

const fieldsOf = (schemas: readonly (readonly [name: string, schema: JsonSchema])[]): FieldTable =>
  Object.fromEntries(schemas.map(([name, schema]) => [name, field(nodeOf(schema, name), schema)]))

const nodeOf = (schema: JsonSchema, name: string): SchemaNode => {
  const node = nonNullableNode(schema, name)
  // Accepts null where a default replaces it.
  return schema.nullable === true || defaultOf(schema) !== undefined ? ({ ...node, nullable: true } as SchemaNode) : node
}

function nonNullableNode(schema: JsonSchema, name: string): SchemaNode {
  if (isIntOrString(schema) && schema.type === undefined) return { type: 'intOrString', loose: true }
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
      return schema.properties === undefined && schema.additionalProperties === undefined ? anything : objectNode(schema, name)
  }
}

function objectNode(schema: JsonSchema, name: string): SchemaNode {
  const mapType = schema['x-kubernetes-map-type'] === 'atomic' ? ({ mapType: 'atomic' } as const) : {}
  const values = additionalSchema(schema)
  if (values !== undefined) return { type: 'map', value: nodeOf(values, name), loose: true, ...mapType }
  if (typeof schema.additionalProperties === 'boolean' && schema.properties === undefined)
    return { type: 'map', value: membersPruned, loose: true, ...mapType }
  const properties = isEmbedded(schema)
    ? schemasOf(schema.properties).filter(([member]) => !isResourceMember(member))
    : schemasOf(schema.properties)
  const resource: FieldTable = isEmbedded(schema)
    ? {
        apiVersion: field(strictString, {}),
        kind: field(strictString, {}),
        metadata: { node: { ...objectMeta, loose: true }, pointer: true },
      }
    : {}
  return {
    type: 'struct',
    name,
    loose: true,
    fields: { ...resource, ...fieldsOf(properties) },
    ...mapType,
    ...restOf(schema),
  }
}

function listNode(schema: JsonSchema, name: string): ListNode {
  const items = pruningItemSchema(schema)
  const type = schema['x-kubernetes-list-type']
  return {
    type: 'list',
    item: items === undefined ? anything : nodeOf(items, name),
    loose: true,
    listType: type === 'set' || type === 'map' ? type : 'atomic',
    ...(type === 'map' ? { keys: schema['x-kubernetes-list-map-keys'] ?? [] } : {}),
  }
}
