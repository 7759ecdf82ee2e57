// The schemas of custom kinds as they are published: as their authors wrote them, completed by what every object has.

import * as meta from '../../api/meta.schema.js'
import type { SchemaNode } from '../../schema/node.js'
import type { JsonSchema } from '../../schema/openapi.js'
import type { Publisher } from './publisher.js'

export interface CustomReading {
  readonly describe: Publisher['describe']
  readonly schemaOf: (node: SchemaNode) => JsonSchema
}

/** `said`: what the version of OpenAPI can say of it. */
export function completeSchema(said: JsonSchema, { describe, schemaOf }: CustomReading): JsonSchema {
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

/** How many words are looked at in a step. */
const strideWords = 500

/**
 * What version 2 can say of a schema. Its readers check what they send against it, so that it must never refuse what the server
 * takes: where a value may be more than one thing, nothing is said of its type.
 */
export const forVersion2 = (schema: JsonSchema): Generator<undefined, JsonSchema, void> => reduced(schema, { words: 0 })

function* reduced(schema: JsonSchema, seen: { words: number }): Generator<undefined, JsonSchema, void> {
  const isOpen = schema['nullable'] === true || schema['x-kubernetes-int-or-string'] === true
  const keepsAll = schema['x-kubernetes-preserve-unknown-fields'] === true
  const kept: (readonly [string, unknown])[] = []
  for (const [word, value] of Object.entries(schema)) {
    if (++seen.words % strideWords === 0) yield
    if (unknownToVersion2.has(word) || (isOpen && word === 'type')) continue
    if (keepsAll && (word === 'properties' || word === 'items')) continue
    kept.push([word, yield* inside(word, value, seen)])
  }
  return Object.fromEntries(kept)
}

function* inside(word: string, value: unknown, seen: { words: number }): Generator<undefined, unknown, void> {
  if (typeof value !== 'object' || value === null) return value
  if (word === 'items' || word === 'additionalProperties') return yield* reduced(value as JsonSchema, seen)
  if (word === 'allOf') {
    const all: JsonSchema[] = []
    for (const each of value as readonly JsonSchema[]) all.push(yield* reduced(each, seen))
    return all
  }
  if (word !== 'properties') return value
  const properties: (readonly [string, JsonSchema])[] = []
  for (const [name, each] of Object.entries(value as { readonly [name: string]: JsonSchema }))
    properties.push([name, yield* reduced(each, seen)])
  return Object.fromEntries(properties)
}
