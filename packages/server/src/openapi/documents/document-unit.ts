// Units of an OpenAPI document, each rendered as a whole: the paths of an API version or custom kind, with custom types.
// Built-in types, which units share, are rendered apart.

import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import type { TurnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import {
  defineAll,
  type JsonSchema,
  type NamedType,
  type OpenApiVersion,
  type PublishedKind,
} from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { objectProperties, publishedSchema } from '../crd-schemas.js'
import { renderPath } from '../paths/render-path.js'
import type { RouteSource } from '../paths/routes.js'
import { protobufV2, protobufV3 } from '../protobuf/protobuf-encoding.js'
import { isCustomHome } from '../published-types.js'
import type { Blueprint } from './blueprint.js'
import { type DocumentEncoding, joinEntries, jsonV2, jsonV3 } from './document-encoding.js'

export type EncodingName = 'json' | 'protobuf'

export const encodings: { readonly [Version in OpenApiVersion]: { readonly [Name in EncodingName]: DocumentEncoding } } = {
  2: { json: jsonV2, protobuf: protobufV2 },
  3: { json: jsonV3, protobuf: protobufV3 },
}

export interface Format {
  readonly version: OpenApiVersion
  readonly name: EncodingName
}

export type Types = ReadonlyMap<string, NamedType>

export interface UnitBytes {
  readonly paths: Uint8Array | undefined
  readonly definitions: Uint8Array | undefined
  readonly names: readonly string[]
  readonly shared: Types
}

export async function renderUnit(
  blueprint: Blueprint,
  source: RouteSource,
  { version, name }: Format,
  budget: TurnBudget,
): Promise<UnitBytes> {
  const encoding = encodings[version][name]
  const crdSchema = source.crdSchema && ([source.crdSchema[0], publishedIn(blueprint, source.crdSchema[1], version)] as const)
  const definitions = blueprint.definitions(version, { crdSchema })
  const paths: Uint8Array[] = []
  for (const route of source.routes()) {
    if (budget.isSpent) await budget.nextTurn()
    paths.push(encoding.path(route.path, renderPath(version, route, definitions)))
  }
  const customDefinitions: Uint8Array[] = []
  const names: string[] = []
  const shared = new Map<string, NamedType>()
  // Defining a type may add types to the map.
  for (const [fullName, type] of definitions.referred) {
    if (isCustomHome(type.home)) {
      customDefinitions.push(encoding.definition(fullName, definitions.define(type)))
      names.push(fullName)
    } else shared.set(fullName, type)
  }
  return { paths: joinEntries(encoding, paths), definitions: joinEntries(encoding, customDefinitions), names, shared }
}

function publishedIn(blueprint: Blueprint, schema: JsonSchema, version: OpenApiVersion): JsonSchema {
  const { describe } = blueprint
  return publishedSchema(schema, version, objectProperties(version, { describe, schemaOf: blueprint.definitions(version).schemaOf }))
}

export interface SharedBytes {
  readonly definitions: Uint8Array | undefined
  readonly types: Types
  /** The kinds of the rendered types: the bytes are valid for every catalog with the same kinds. */
  readonly kindsByType: ReadonlyMap<StructNode, readonly PublishedKind[]>
}

/** Renders shared types and all types that they refer to, sorted by name. */
export async function renderShared(
  blueprint: Blueprint,
  types: Types,
  { version, name }: Format,
  budget: TurnBudget,
): Promise<SharedBytes> {
  const encoding = encodings[version][name]
  const kindsByType = new Map<StructNode, readonly PublishedKind[]>()
  const kindsOf = (node: StructNode): readonly PublishedKind[] => {
    const kinds = blueprint.kindsOf(node)
    kindsByType.set(node, kinds)
    return kinds
  }
  const definitions = blueprint.definitions(version, { kindsOf })
  for (const { node } of types.values()) definitions.schemaOf(node)
  const found: (readonly [string, Uint8Array])[] = []
  for (const [fullName, schema] of defineAll(definitions)) {
    if (budget.isSpent) await budget.nextTurn()
    found.push([fullName, encoding.definition(fullName, schema)])
  }
  found.sort(([a], [b]) => compareText(a, b))
  const entries = found.map(([, entry]) => entry)
  return { definitions: joinEntries(encoding, entries), types: definitions.referred, kindsByType }
}
