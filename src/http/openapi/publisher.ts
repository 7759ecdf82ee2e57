// What the routes of all resources are made with: made once, so that nothing is worked out for each path, and the type of a resource is the
// same value in all documents.

import type { Resource } from '../../api/catalog.js'
import type { Identity } from '../../api/identity.js'
import * as meta from '../../api/meta.schema.js'
import { onceFor } from '../../base/once-for.js'
import * as s from '../../schema/node.js'
import type { Publication } from '../../schema/openapi.js'
import { customHome } from './component-names.js'
import { customMediaTypes, type MediaTypes, mediaTypes } from './media-types.js'
import { type ActionParameters, actionParameters } from './parameters.js'

export interface Publisher {
  readonly identity: Identity
  readonly describe: Publication['describe']
  readonly parameters: ActionParameters
  readonly mediaTypesOf: (resource: Resource) => MediaTypes
  /** The forms of documents that are no objects. */
  readonly mediaTypes: MediaTypes
  /** The type of a kind and that of its list, the same values each time. */
  readonly schemaOf: (resource: Resource) => s.StructNode
  readonly listOf: (resource: Resource) => s.StructNode
}

export function openPublisher(identity: Identity, describe: Publication['describe']): Publisher {
  const schemaOf = onceFor(namedSchema)
  const types = mediaTypes(identity)
  return {
    identity,
    describe,
    parameters: actionParameters(describe),
    mediaTypes: types,
    mediaTypesOf: (resource) => (isCustom(resource) ? customMediaTypes : types),
    schemaOf,
    listOf: onceFor((resource: Resource) => listNode(resource.kind, schemaOf(resource))),
  }
}

/** Custom kinds are those that exist only as JSON. */
export const isCustom = ({ schema }: Resource): boolean => schema.noProto === true

/** Kinds of no package get one from their group, so that they are published under a name. */
const namedSchema = (resource: Resource): s.StructNode =>
  resource.schema.home === undefined ? { ...resource.schema, name: resource.kind, home: customHome(resource) } : resource.schema

function listNode(kind: string, item: s.StructNode): s.StructNode {
  const { optional, ...marks } = item.inList ?? {}
  const fields = {
    metadata: s.field(1, meta.listMeta, { default: {} }),
    items: s.field(2, s.list(item, marks), { required: optional !== true }),
  }
  return s.structsOf(item.home ?? '')(`${kind}List`, fields, { typeMeta: true })
}
