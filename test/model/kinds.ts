// Kinds of the executable model of the API (model.ts): a custom kind, and two built-in kinds with maps and keyed lists.

import { decode, dropNulls, prune, type Schema } from './schema.js'
import { type Fields, isFields, isList, mapFields, type Value } from './values.js'
import { group, widgetSchema } from './widget.js'

export interface Kind {
  readonly name: string
  readonly apiVersion: string
  readonly path: (namespace: string) => string
  readonly schema: Schema
  readonly isCustom: boolean
  /** Reads a request body: prunes, defaults and drops nulls. */
  readonly decode: (body: Fields) => Fields
}

const text: Schema = { type: 'string' }
const labels: Schema = { type: 'object', additionalProperties: text }
const metadata: Schema = { type: 'object', properties: { labels, annotations: labels } }
const reference: Schema = { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { name: text } }
const references: Schema = { type: 'array', 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'], items: reference }

/** Empty lists and maps of built-in types are not serialized. */
function withoutEmpty(value: Value): Value | undefined {
  if (isList(value)) return value.length === 0 ? undefined : value
  if (!isFields(value)) return value
  const kept = mapFields(value, withoutEmpty)
  return Object.keys(kept).length === 0 ? undefined : kept
}

const asFields = (value: Value | undefined): Fields => (isFields(value) ? value : {})

const withoutEmptyMetadata = (object: Fields): Fields => {
  const { metadata: meta, ...rest } = object
  const kept = withoutEmpty(meta ?? null)
  return isFields(kept) ? { metadata: kept, ...rest } : rest
}

const builtIn = (name: string, plural: string, properties: Readonly<Record<string, Schema>>): Kind => {
  const schema: Schema = { type: 'object', properties: { metadata, ...properties } }
  return {
    name,
    apiVersion: 'v1',
    path: (namespace) => `/api/v1/namespaces/${namespace}/${plural}`,
    schema,
    isCustom: false,
    decode: (body) => asFields(withoutEmpty(dropNulls(schema, prune(schema, body)))),
  }
}

export const kinds: readonly Kind[] = [
  {
    name: 'Widget',
    apiVersion: `${group}/v1`,
    path: (namespace) => `/apis/${group}/v1/namespaces/${namespace}/widgets`,
    schema: widgetSchema,
    isCustom: true,
    decode: (body) => withoutEmptyMetadata(asFields(decode(widgetSchema, body))),
  },
  builtIn('ConfigMap', 'configmaps', { data: { type: 'object', additionalProperties: text } }),
  builtIn('ServiceAccount', 'serviceaccounts', { secrets: references, imagePullSecrets: { type: 'array', items: reference } }),
]
