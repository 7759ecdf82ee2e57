// The blueprint of a catalog's OpenAPI documents: routes, types, and the kinds that each type stands for.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { getOrInsert } from '@cluster-apiserver/api/base/recent-map.js'
import { type TurnBudget, turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import {
  type Definitions,
  type JsonSchema,
  type OpenApiVersion,
  openDefinitions,
  type Publication,
  type PublishedKind,
} from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { completeSchema } from '../crd-schemas.js'
import { capitalize } from '../paths/operations.js'
import { type RouteSource, routeSources } from '../paths/routes.js'
import { componentName, createPublisher, isCustom, type Publisher } from '../published-types.js'

export interface DocumentSource {
  readonly describe: Publication['describe']
  readonly release: string
}

export interface Blueprint {
  readonly info: JsonSchema
  readonly describe: DocumentSource['describe']
  readonly sources: readonly RouteSource[]
  readonly kindsOf: KindsOf
  readonly definitions: (version: OpenApiVersion, more?: DefinitionParts) => Definitions
}

interface DefinitionParts {
  /** Replaces `kindsOf` of the blueprint, to record which types are used. */
  readonly kindsOf?: KindsOf
  /** The type of a custom kind and its schema from the CRD. */
  readonly crdSchema?: readonly [node: StructNode, schema: JsonSchema] | undefined
}

type KindsOf = (node: StructNode) => readonly PublishedKind[]

const titleOf = ({ self }: Identity): string => capitalize(self)

const noKinds: readonly PublishedKind[] = []

export async function blueprintOf(
  catalog: Catalog,
  { describe, release }: DocumentSource,
  { publisher = createPublisher(catalog.identity, describe), budget = turnBudget }: { publisher?: Publisher; budget?: TurnBudget } = {},
): Promise<Blueprint> {
  const kinds = await kindsOfTypes(catalog, publisher, budget)
  const kindsOf = (node: StructNode): readonly PublishedKind[] => kinds.get(node) ?? noKinds
  return {
    info: { title: titleOf(catalog.identity), version: release },
    describe,
    sources: routeSources(catalog, publisher),
    kindsOf,
    definitions: (version, { kindsOf: lookup = kindsOf, crdSchema } = {}) =>
      openDefinitions({
        version,
        describe,
        nameOf: componentName,
        kindsOf: lookup,
        customSchemaFor: (node, schemaOf) =>
          node === crdSchema?.[0] ? completeSchema(crdSchema[1], version, { describe, schemaOf }) : undefined,
      }),
  }
}

/** The kinds of each type, for `x-kubernetes-group-version-kind`. */
async function kindsOfTypes(
  catalog: Catalog,
  publisher: Publisher,
  budget: TurnBudget,
): Promise<ReadonlyMap<StructNode, readonly PublishedKind[]>> {
  const kinds = new Map<StructNode, PublishedKind[]>()
  const add = (node: StructNode, { group, version, kind }: PublishedKind): void => {
    const known = getOrInsert(kinds, node, () => [])
    const isKnown = known.some((other) => other.group === group && other.version === version && other.kind === kind)
    if (!isKnown) known.push({ group, version, kind })
  }
  for (const resource of catalog.all()) {
    if (budget.isSpent) await budget.nextTurn()
    const { group, version, kind } = resource
    add(publisher.schemaOf(resource), { group, version, kind })
    add(publisher.listOf(resource), { group, version, kind: `${kind}List` })
    addSubresources(publisher, resource, add)
  }
  for (const node of coreTypes) add(node, { group: '', version: 'v1', kind: node.name })
  for (const { group, version, resources } of catalog.groupVersions()) {
    // Groups with only custom kinds are left out, so that the documents of other groups do not change with them.
    if ([...resources.values()].every(isCustom)) continue
    for (const node of typesOfEveryGroup) add(node, { group, version, kind: node.name })
  }
  return kinds
}

const coreTypes: readonly StructNode[] = [meta.status, meta.apiGroup, meta.apiGroupList, meta.apiResourceList, meta.apiVersions]
const typesOfEveryGroup: readonly StructNode[] = [meta.deleteOptions, meta.watchEvent]

function addSubresources({ identity }: Publisher, resource: Resource, add: (node: StructNode, kind: PublishedKind) => void): void {
  for (const { view, body } of resource.definition.subresources ?? []) {
    if (view !== undefined) add(view.schema, { group: identity.group(view.group), version: view.version, kind: view.kind })
    if (body?.schema === undefined) continue
    const group = body.group === undefined ? resource.group : identity.group(body.group)
    add(body.schema, { group, version: body.version ?? resource.version, kind: body.kind })
  }
}
