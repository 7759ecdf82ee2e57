// Which types are sent and received as which kinds: what the extension `x-kubernetes-group-version-kind` says of a definition.

import type { Catalog, Resource } from '../../api/catalog.js'
import * as meta from '../../api/meta.schema.js'
import { getOrInsert } from '../../base/get-or-insert.js'
import type { StructNode } from '../../schema/node.js'
import type { PublishedKind } from '../../schema/openapi.js'
import { isCustom, type Publisher } from './publisher.js'

export type KindsOfTypes = ReadonlyMap<StructNode, readonly PublishedKind[]>

/** Yields after each resource: there may be many. */
export function* kindsOfTypes(catalog: Catalog, publisher: Publisher): Generator<undefined, KindsOfTypes, void> {
  const kinds = new Map<StructNode, PublishedKind[]>()
  const add = (node: StructNode, { group, version, kind }: PublishedKind): void => {
    const known = getOrInsert(kinds, node, () => [])
    const isKnown = known.some((other) => other.group === group && other.version === version && other.kind === kind)
    if (!isKnown) known.push({ group, version, kind })
  }
  for (const resource of catalog.all()) {
    const { group, version, kind } = resource
    add(publisher.schemaOf(resource), { group, version, kind })
    add(publisher.listOf(resource), { group, version, kind: `${kind}List` })
    addSubresources(publisher, resource, add)
    yield
  }
  for (const node of coreTypes) add(node, { group: '', version: 'v1', kind: node.name })
  for (const { group, version, resources } of catalog.groupVersions()) {
    // Those of custom kinds come and go while the server runs, and are not told of in the documents of all others.
    if ([...resources.values()].every(isCustom)) continue
    for (const node of typesOfEveryGroup) add(node, { group, version, kind: node.name })
    yield
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
