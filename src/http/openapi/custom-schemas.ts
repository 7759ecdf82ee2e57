// The schemas of custom kinds as they are published: as their authors wrote them, completed by what every object has.

import type { Catalog } from '../../api/catalog.js'
import * as meta from '../../api/meta.schema.js'
import type { SchemaNode, StructNode } from '../../schema/node.js'
import type { JsonSchema, OpenApiVersion } from '../../schema/openapi.js'
import type { Publisher } from './publisher.js'

export interface CustomReading {
  readonly version: OpenApiVersion
  readonly describe: Publisher['describe']
  readonly schemaOf: (node: SchemaNode) => JsonSchema
}

/** The schemas that were written with the definitions of the kinds, by the types that stand for them in routes. */
export function customSchemas(catalog: Catalog, publisher: Publisher): ReadonlyMap<StructNode, JsonSchema> {
  const entries = catalog.all().flatMap((resource): [StructNode, JsonSchema][] => {
    const published = resource.definition.versions.find(({ name }) => name === resource.version)?.published
    return published === undefined ? [] : [[publisher.schemaOf(resource), published]]
  })
  return new Map(entries)
}

export function completeSchema(written: JsonSchema, { version, describe, schemaOf }: CustomReading): JsonSchema {
  const said = version === 2 ? forVersion2(written) : written
  const text = (field: string): JsonSchema => ({ type: 'string', description: describe('TypeMeta', field) ?? '' })
  return {
    ...said,
    type: 'object',
    properties: {
      ...(said['properties'] as JsonSchema | undefined),
      apiVersion: text('apiVersion'),
      kind: text('kind'),
      metadata: schemaOf(meta.objectMeta),
    },
  }
}

/** Words that version 2 does not know. */
const unknownToVersion2: ReadonlySet<string> = new Set(['nullable', 'oneOf', 'anyOf', 'not', 'default'])

/**
 * What version 2 can say of a schema. Its readers check what they send against it, so that it must never refuse what the server
 * takes: where a value may be more than one thing, nothing is said of its type.
 */
function forVersion2(schema: JsonSchema): JsonSchema {
  const isOpen = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true
  const kept = Object.entries(schema).filter(
    ([word]) => !unknownToVersion2.has(word) && !(isOpen && word === 'type') && !(keepsAll && (word === 'properties' || word === 'items')),
  )
  return Object.fromEntries(kept.map(([word, value]) => [word, inside(word, value)]))
}

function inside(word: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (word === 'items' || word === 'additionalProperties') return forVersion2(value as JsonSchema)
  if (word === 'allOf') return (value as readonly JsonSchema[]).map(forVersion2)
  if (word !== 'properties') return value
  return Object.fromEntries(Object.entries(value as { readonly [name: string]: JsonSchema }).map(([name, one]) => [name, forVersion2(one)]))
}
