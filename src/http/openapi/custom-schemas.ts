// The schemas of custom kinds as they are published: as their authors wrote them, completed by what every object has, and for version 2
// without what its readers do not understand.

import * as meta from '../../api/meta.schema.js'
import type { SchemaNode } from '../../schema/node.js'
import type { JsonSchema, OpenApiVersion } from '../../schema/openapi.js'
import type { Publisher } from './publisher.js'

export interface CustomReading {
  readonly describe: Publisher['describe']
  readonly schemaOf: (node: SchemaNode) => JsonSchema
}

/** What every object has. */
export interface ObjectProperties {
  readonly apiVersion: JsonSchema
  readonly kind: JsonSchema
  readonly metadata: JsonSchema
}

export function objectProperties({ describe, schemaOf }: CustomReading): ObjectProperties {
  const text = (field: string): JsonSchema => ({ type: 'string', description: describe('TypeMeta', field) ?? '' })
  return { apiVersion: text('apiVersion'), kind: text('kind'), metadata: schemaOf(meta.objectMeta) }
}

/** `said`: what the version of OpenAPI can say of it. Who may be anything is not told to have some fields: old clients would refuse all others. */
export function completeSchema(said: JsonSchema, version: OpenApiVersion, reading: CustomReading): JsonSchema {
  if (version === 2 && keepsUnknown(said)) return { type: 'object' }
  const own = said['properties'] as JsonSchema | undefined
  return { ...said, type: 'object', properties: { ...own, ...objectProperties(reading) } }
}

const keepsUnknown = (schema: JsonSchema): boolean => schema['x-kubernetes-preserve-unknown-fields'] === true

/** Words that version 2 does not know. */
const unknownToVersion2: ReadonlySet<string> = new Set(['nullable', 'allOf', 'oneOf', 'anyOf', 'not'])

/** How many words are looked at in a step. */
const strideWords = 500

interface Publishing {
  readonly version: OpenApiVersion
  readonly ofObjects: ObjectProperties
  words: number
}

/**
 * What a version of OpenAPI says of a schema. Readers of version 2 check what they send against it, so that it must never refuse what the
 * server takes: where a value may be more than one thing, nothing is said of its type and of what is in it.
 */
export const publishedSchema = (
  schema: JsonSchema,
  version: OpenApiVersion,
  ofObjects: ObjectProperties,
): Generator<undefined, JsonSchema, void> => published(schema, { version, ofObjects, words: 0 })

function* published(schema: JsonSchema, publishing: Publishing): Generator<undefined, JsonSchema, void> {
  const isReduced = publishing.version === 2
  const isOpen = isReduced && (schema['nullable'] === true || keepsUnknown(schema))
  const kept: (readonly [string, unknown])[] = []
  for (const [word, value] of Object.entries(schema)) {
    if (++publishing.words % strideWords === 0) yield
    if (word === 'example' || (isReduced && unknownToVersion2.has(word))) continue
    if (isOpen && (word === 'properties' || word === 'items')) continue
    kept.push([word, yield* inside(word, value, publishing)])
  }
  const said = Object.fromEntries(kept)
  return withObjectProperties(isReduced ? withoutTypes(schema, said) : withBothTypes(said), publishing)
}

function* inside(word: string, value: unknown, publishing: Publishing): Generator<undefined, unknown, void> {
  if (typeof value !== 'object' || value === null) return value
  if (word === 'items' || word === 'additionalProperties') return yield* published(value as JsonSchema, publishing)
  if (word !== 'properties') return value
  const properties: (readonly [string, JsonSchema])[] = []
  for (const [name, each] of Object.entries(value as { readonly [name: string]: JsonSchema }))
    properties.push([name, yield* published(each, publishing)])
  return Object.fromEntries(properties)
}

/** `schema`: as it was written; `said`: what remains of it. */
function withoutTypes(schema: JsonSchema, said: JsonSchema): JsonSchema {
  const { type, required, ...rest } = said
  const isUntyped =
    schema['nullable'] === true || (type === 'array' && said['items'] === undefined) || (type === 'object' && keepsUnknown(schema))
  const needed = requiredIn(schema, said)
  return {
    ...rest,
    ...(isUntyped || type === undefined ? {} : { type }),
    ...(needed.length === 0 ? {} : { required: needed }),
  }
}

/** What may be null need not be there. */
function requiredIn(schema: JsonSchema, said: JsonSchema): readonly string[] {
  const required = (said['required'] ?? []) as readonly string[]
  const isNullable = (value: unknown): boolean => (value as JsonSchema | undefined)?.['nullable'] === true
  if (isNullable(schema['additionalProperties'])) return []
  if (said['properties'] === undefined) return required
  const properties = schema['properties'] as JsonSchema
  return required.filter((name) => !Object.hasOwn(properties, name) || !isNullable(properties[name]))
}

const bothTypes: readonly JsonSchema[] = [{ type: 'integer' }, { type: 'string' }]

const areBothTypes = (list: unknown): boolean => JSON.stringify(list) === JSON.stringify(bothTypes)

/** Where a value may be a number or a text, that is said in words that all readers know. */
function withBothTypes(said: JsonSchema): JsonSchema {
  if (said['x-kubernetes-int-or-string'] !== true) return said
  const anyOf = said['anyOf'] as readonly JsonSchema[] | undefined
  const allOf = (said['allOf'] ?? []) as readonly JsonSchema[]
  if (areBothTypes(anyOf) || areBothTypes(allOf[0]?.['anyOf'])) return said
  return anyOf === undefined ? { ...said, anyOf: bothTypes } : { ...said, allOf: [{ anyOf: bothTypes }, ...allOf] }
}

function withObjectProperties(said: JsonSchema, { version, ofObjects }: Publishing): JsonSchema {
  if (said['x-kubernetes-embedded-resource'] !== true || (version === 2 && keepsUnknown(said))) return said
  const required = (said['required'] ?? []) as readonly string[]
  return {
    ...said,
    properties: { ...(said['properties'] as JsonSchema | undefined), ...ofObjects },
    required: [...required, ...['kind', 'apiVersion'].filter((name) => !required.includes(name))],
  }
}
