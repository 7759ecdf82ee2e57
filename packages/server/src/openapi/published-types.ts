// Types, media types and parameters that are shared by the routes of all resources; a type is the same value in all documents.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { type Identity, identityOf } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import type { Publication } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { type ActionParameters, actionParameters } from './paths/parameters.js'

export interface Publisher {
  readonly identity: Identity
  readonly describe: Publication['describe']
  readonly parameters: ActionParameters
  readonly mediaTypesOf: (resource: Resource) => MediaTypes
  readonly mediaTypes: MediaTypes
  readonly schemaOf: (resource: Resource) => s.StructNode
  readonly listOf: (resource: Resource) => s.StructNode
}

export function createPublisher(identity: Identity, describe: Publication['describe']): Publisher {
  const schemaOf = weakMemoize(namedSchema)
  const types = mediaTypes(identity)
  return {
    identity,
    describe,
    parameters: actionParameters(describe),
    mediaTypes: types,
    mediaTypesOf: (resource) => (isCustom(resource) ? customMediaTypes : types),
    schemaOf,
    listOf: weakMemoize((resource: Resource) => listNode(resource.kind, schemaOf(resource))),
  }
}

export const isCustom = ({ schema }: Resource): boolean => schema.noProto === true

/** Custom kinds have no package; their group version is used instead. */
const namedSchema = (resource: Resource): s.StructNode =>
  resource.schema.home === undefined ? { ...resource.schema, name: resource.kind, home: customHome(resource) } : resource.schema

function listNode(kind: string, item: s.StructNode): s.StructNode {
  const { optional, ...listOptions } = item.inList ?? {}
  const fields = {
    metadata: s.field(1, meta.listMeta, { default: {} }),
    items: s.field(2, s.list(item, listOptions), { required: optional !== true }),
  }
  return s.structsOf(item.home ?? '')(`${kind}List`, fields, { typeMeta: true })
}

export const json = 'application/json'
const yaml = 'application/yaml'

const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
] as const

/** Strategic merge patches are not supported for custom resources. */
const customPatchTypes = patchTypes.filter((type) => !type.includes('strategic'))

interface MediaTypes {
  readonly object: readonly string[]
  readonly objectOrWatch: readonly string[]
  readonly text: readonly string[]
  readonly body: readonly string[]
  readonly patch: readonly string[]
}

function mediaTypes({ protobufMediaType: protobuf }: Identity): MediaTypes {
  const object = [json, yaml, protobuf]
  return {
    object,
    objectOrWatch: [...object, `${json};stream=watch`, `${protobuf};stream=watch`],
    text: ['text/plain', ...object],
    body: ['*/*'],
    patch: patchTypes,
  }
}

const customMediaTypes: MediaTypes = {
  object: [json, yaml],
  objectOrWatch: [json, yaml],
  text: ['text/plain', json, yaml],
  body: [json, yaml],
  patch: customPatchTypes,
}

const reversed = (domain: string): string => domain.split('.').reverse().join('.')

const kubernetesIdentity = identityOf('kubernetes')

/** Package of a custom type: its group and version, joined by a slash, which other package names do not contain. */
const customHome = ({ group, version }: { readonly group: string; readonly version: string }): string => `${group}/${version}`

/** True for types that belong to one custom kind. */
export const isCustomHome = (home: string): boolean => home.includes('/')

export function componentName(home: string, name: string): string {
  const [group = '', version] = home.split('/')
  if (version !== undefined) return `${reversed(group)}.${version}.${name}`
  const [first = '', ...rest] = home.split('.')
  // The only package whose published name has the prefix of the identity.
  const stem = first === 'aggregator' ? kubernetesIdentity.prefixed(first) : first
  return [reversed(kubernetesIdentity.group({ stem })), ...rest, name].join('.')
}
