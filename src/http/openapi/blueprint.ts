// Everything that documents are rendered from, worked out from the catalog. It lives as long as documents are being rendered.

import type { Catalog } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import { type Definitions, type JsonSchema, type OpenApiVersion, openDefinitions, type Publication } from '../../schema/openapi.js'
import { componentName } from './component-names.js'
import { completeSchema, customSchemas } from './custom-schemas.js'
import { kindsOfTypes } from './kinds.js'
import { capital } from './operation-ids.js'
import { openPublisher } from './publisher.js'
import type { Route } from './route.js'
import { allRoutes } from './routes.js'

export interface DocumentSource {
  readonly catalog: Catalog
  /** One sentence about a type, or about one of its fields. */
  readonly describe: Publication['describe']
  /** The release of the API, such as `v1.26.8`. */
  readonly release: string
}

export interface Blueprint {
  readonly info: JsonSchema
  readonly routes: readonly Route[]
  readonly definitions: (version: OpenApiVersion) => Definitions
}

const titleOf = ({ self }: Identity): string => capital(self)

export function blueprintOf({ catalog, describe, release }: DocumentSource): Blueprint {
  const { identity } = catalog
  const publisher = openPublisher(identity, describe)
  const kinds = kindsOfTypes(catalog, publisher)
  const written = customSchemas(catalog, publisher)
  return {
    info: { title: titleOf(identity), version: release },
    routes: allRoutes(catalog, publisher),
    definitions: (version) =>
      openDefinitions({
        version,
        describe,
        nameOf: componentName,
        kindsOf: (node) => kinds.get(node) ?? [],
        writtenFor: (node, schemaOf) => {
          const schema = written.get(node)
          return schema === undefined ? undefined : completeSchema(schema, { version, describe, schemaOf })
        },
      }),
  }
}

/** The paths of each document of version 3. */
export function routesByDocument({ routes }: Blueprint): ReadonlyMap<string, readonly Route[]> {
  const documents = new Map<string, Route[]>()
  for (const route of routes) if (route.document !== undefined) getOrInsert(documents, route.document, () => []).push(route)
  return documents
}
