// What of a document is rendered together and kept together: the paths of a version, of one custom kind or of another server, with the types that
// nobody else speaks of. And the types that are common to many, which follow from what the units refer to.

import { compareText } from '../../base/text-order.js'
import type { StructNode } from '../../schema/node.js'
import { defineAll, type JsonSchema, type NamedType, type OpenApiVersion, type PublishedKind } from '../../schema/openapi.js'
import type { Blueprint } from './blueprint.js'
import { isCustomHome } from './component-names.js'
import { objectProperties, publishedSchema } from './custom-schemas.js'
import { type DocumentForm, Entries } from './document-form.js'
import { renderPathV2 } from './document-v2.js'
import { renderPathV3 } from './document-v3.js'
import { jsonV2, jsonV3 } from './json-form.js'
import { protobufV2 } from './protobuf-v2.js'
import { protobufV3 } from './protobuf-v3.js'
import type { RouteSource } from './routes.js'

export type FormName = 'json' | 'protobuf'

export const formsOf: { readonly [Version in OpenApiVersion]: { readonly [Name in FormName]: DocumentForm } } = {
  2: { json: jsonV2, protobuf: protobufV2 },
  3: { json: jsonV3, protobuf: protobufV3 },
}

const renderPathOf = { 2: renderPathV2, 3: renderPathV3 }

/** Which version of OpenAPI, in which form. */
export interface Format {
  readonly version: OpenApiVersion
  readonly name: FormName
}

/** Types by their full names. */
export type Types = ReadonlyMap<string, NamedType>

export interface UnitBytes {
  readonly paths: Uint8Array | undefined
  readonly definitions: Uint8Array | undefined
  /** Of the definitions. */
  readonly names: readonly string[]
  /** What it refers to and does not define. */
  readonly shared: Types
}

/** Yields after each path and each definition. */
export function* renderUnit(blueprint: Blueprint, source: RouteSource, { version, name }: Format): Generator<undefined, UnitBytes, void> {
  const form = formsOf[version][name]
  const written = source.written && ([source.written[0], yield* publishedIn(blueprint, source.written[1], version)] as const)
  const definitions = blueprint.definitions(version, { written })
  const paths = new Entries(form)
  for (const route of yield* source.steps()) {
    paths.add(yield* form.path(route.path, renderPathOf[version](route, definitions)))
    yield
  }
  const own = new Entries(form)
  const names: string[] = []
  const shared = new Map<string, NamedType>()
  // What definitions refer to is added to the end while it is walked.
  for (const [fullName, type] of definitions.referred) {
    if (isCustomHome(type.home)) {
      own.add(yield* form.definition(fullName, definitions.define(type)))
      names.push(fullName)
      yield
    } else shared.set(fullName, type)
  }
  return { paths: yield* paths.joined(), definitions: yield* own.joined(), names, shared }
}

function publishedIn(blueprint: Blueprint, schema: JsonSchema, version: OpenApiVersion): Generator<undefined, JsonSchema, void> {
  const { describe } = blueprint
  return publishedSchema(schema, version, objectProperties({ describe, schemaOf: blueprint.definitions(version).schemaOf }))
}

export interface SharedBytes {
  readonly definitions: Uint8Array | undefined
  /** All that is defined. */
  readonly types: Types
  /** What it took from the rest of the catalog: it is the same for every catalog that says the same. */
  readonly heard: ReadonlyMap<StructNode, readonly PublishedKind[]>
}

/** The definitions of types and of whatever these refer to, in the order of their names. */
export function* renderShared(blueprint: Blueprint, types: Types, { version, name }: Format): Generator<undefined, SharedBytes, void> {
  const form = formsOf[version][name]
  const heard = new Map<StructNode, readonly PublishedKind[]>()
  const kindsOf = (node: StructNode): readonly PublishedKind[] => {
    const kinds = blueprint.kindsOf(node)
    heard.set(node, kinds)
    return kinds
  }
  const definitions = blueprint.definitions(version, { kindsOf })
  for (const { node } of types.values()) definitions.schemaOf(node)
  const found: (readonly [string, Uint8Array])[] = []
  for (const [fullName, schema] of defineAll(definitions)) {
    found.push([fullName, yield* form.definition(fullName, schema)])
    yield
  }
  found.sort(([a], [b]) => compareText(a, b))
  const entries = new Entries(form)
  for (const [, entry] of found) entries.add(entry)
  return { definitions: yield* entries.joined(), types: definitions.referred, heard }
}
