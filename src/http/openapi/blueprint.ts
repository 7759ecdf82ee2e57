// Everything that documents are rendered from, worked out from the catalog. It lives as long as documents are being rendered.

import type { Catalog } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { atOnce } from '../../base/pieces.js'
import type { StructNode } from '../../schema/node.js'
import {
  type Definitions,
  type JsonSchema,
  type OpenApiVersion,
  openDefinitions,
  type Publication,
  type PublishedKind,
} from '../../schema/openapi.js'
import { componentName } from './component-names.js'
import { completeSchema } from './custom-schemas.js'
import { kindsOfTypes } from './kinds.js'
import { capital } from './operation-ids.js'
import { openPublisher, type Publisher } from './publisher.js'
import type { Route } from './route.js'
import { inOrder, type RouteSource, routeSources } from './routes.js'

export interface DocumentSource {
  /** One sentence about a type, or about one of its fields. */
  readonly describe: Publication['describe']
  /** The release of the API, such as `v1.26.8`. */
  readonly release: string
}

export interface Blueprint {
  readonly info: JsonSchema
  readonly describe: DocumentSource['describe']
  /** By document of version 3, and what is in none of them. */
  readonly sources: readonly RouteSource[]
  /** As which kinds a type is sent and received. */
  readonly kindsOf: KindsOf
  readonly definitions: (version: OpenApiVersion, more?: DefinitionParts) => Definitions
}

export interface DefinitionParts {
  /** Another function than that of the blueprint, which hears what is asked for. */
  readonly kindsOf?: KindsOf
  /** The type of a custom kind, and what the version of OpenAPI can say of it. */
  readonly written?: readonly [node: StructNode, schema: JsonSchema] | undefined
}

export type KindsOf = (node: StructNode) => readonly PublishedKind[]

const titleOf = ({ self }: Identity): string => capital(self)

const noKinds: readonly PublishedKind[] = []

/** In steps: there may be many kinds. */
export function* drawBlueprint(
  catalog: Catalog,
  { describe, release }: DocumentSource,
  publisher: Publisher = openPublisher(catalog.identity, describe),
): Generator<undefined, Blueprint, void> {
  const kinds = yield* kindsOfTypes(catalog, publisher)
  const kindsOf = (node: StructNode): readonly PublishedKind[] => kinds.get(node) ?? noKinds
  return {
    info: { title: titleOf(catalog.identity), version: release },
    describe,
    sources: yield* routeSources(catalog, publisher),
    kindsOf,
    definitions: (version, { kindsOf: heard = kindsOf, written } = {}) =>
      openDefinitions({
        version,
        describe,
        nameOf: componentName,
        kindsOf: heard,
        writtenFor: (node, schemaOf) => (node === written?.[0] ? completeSchema(written[1], version, { describe, schemaOf }) : undefined),
      }),
  }
}

/** At once, for a catalog that is small. */
export const blueprintOf = (catalog: Catalog, source: DocumentSource): Blueprint => atOnce(drawBlueprint(catalog, source))

/** Every path, in order. */
export const allRoutes = ({ sources }: Blueprint): readonly Route[] => inOrder(sources.flatMap(({ routes }) => routes()))
