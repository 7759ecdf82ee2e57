// OpenAPI operations of a resource: ids, tags and common members; GET, PUT and PATCH of objects and subresources.

import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Verb } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import { isCustom, type Publisher } from '../published-types.js'
import { nameInPath, namespaceInPath } from './parameters.js'
import type { Method, Operation, Parameter } from './route.js'

/** The resource whose operations are published. */
export interface PublishedResource {
  readonly publisher: Publisher
  readonly resource: Resource
  readonly root: string
  readonly document: string | undefined
}

interface OperationDraft extends OperationName {
  readonly method: Method
  readonly action: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly responses: Operation['responses']
  readonly body?: Operation['body']
  readonly produces?: readonly string[]
}

export function operation({ publisher, resource }: PublishedResource, draft: OperationDraft): Operation {
  const { group, version, kind } = resource
  return {
    method: draft.method,
    id: operationId(resource, draft),
    tag: versionTag(groupStem(resource), version),
    description: draft.description,
    action: draft.action,
    kind: { group, version, kind },
    parameters: [...(draft.namespaced ? [namespaceInPath] : []), ...draft.parameters],
    ...(draft.body && { body: draft.body }),
    ...(isCustom(resource) ? { consumes: publisher.mediaTypesOf(resource).object } : {}),
    responses: draft.responses,
    produces: draft.produces ?? publisher.mediaTypesOf(resource).object,
  }
}

interface ReadAndWrite {
  readonly verbs: readonly Verb[]
  readonly schema: StructNode
  readonly subresource: string
  readonly suffix?: string
}

export function readAndWrite(
  published: PublishedResource,
  { verbs, schema, subresource, suffix = '' }: ReadAndWrite,
): readonly Operation[] {
  const { publisher, resource } = published
  const { parameters } = publisher
  const types = publisher.mediaTypesOf(resource)
  const target = `${subresource === '' ? '' : `the ${subresource} of `}an object of kind ${resource.kind}`
  const common = { namespaced: resource.namespaced, suffix }
  const read: OperationDraft = {
    ...common,
    method: 'get',
    action: 'get',
    verb: 'read',
    description: `Reads ${target}.`,
    parameters: [nameInPath, ...(isCustom(resource) ? parameters.getWithResourceVersion : parameters.get)],
    responses: { 200: schema },
  }
  const replace: OperationDraft = {
    ...common,
    method: 'put',
    action: 'put',
    verb: 'replace',
    description: `Replaces ${target}.`,
    parameters: [nameInPath, ...parameters.put],
    body: { node: schema, mediaTypes: types.body, required: true },
    responses: { 200: schema, 201: schema },
  }
  const patch: OperationDraft = {
    ...common,
    method: 'patch',
    action: 'patch',
    verb: 'patch',
    description: `Changes parts of ${target}.`,
    parameters: [nameInPath, ...(isCustom(resource) ? parameters.put : parameters.patch)],
    body: { node: meta.patch, mediaTypes: types.patch, required: true },
    responses: isCustom(resource) ? { 200: schema } : { 200: schema, 201: schema },
  }
  const drafts: readonly (readonly [Verb, OperationDraft])[] = [
    ['get', read],
    ['update', replace],
    ['patch', patch],
  ]
  return drafts.flatMap(([verb, draft]) => (verbs.includes(verb) ? [operation(published, draft)] : []))
}

/** `rbac.authorization` → `RbacAuthorization`. */
const pascalCase = (text: string): string => text.replace(/(?:^|[^a-zA-Z0-9]+)([a-zA-Z0-9]?)/g, (_, char: string) => char.toUpperCase())

export const capitalize = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
const uncapitalize = (text: string): string => text.slice(0, 1).toLowerCase() + text.slice(1)

/** The group name without the suffix that the flag --identity selects, such as `rbac.authorization`; `core` for the core group. */
export function groupStem({ definition: { group } }: Resource): string {
  const stem = typeof group === 'string' ? group : group.stem
  return stem === '' ? 'core' : stem
}

export const groupTag = (stem: string): string => uncapitalize(pascalCase(stem))
export const versionTag = (stem: string, version: string): string => `${groupTag(stem)}_${version}`
export const groupInId = (stem: string): string => pascalCase(stem)
export const versionInId = (stem: string, version: string): string => `${pascalCase(stem)}${capitalize(version)}`

interface OperationName {
  readonly verb: string
  readonly qualifier?: string
  readonly namespaced: boolean
  readonly suffix?: string
}

function operationId(resource: Resource, { verb, qualifier = '', namespaced, suffix = '' }: OperationName): string {
  const groupVersion = versionInId(groupStem(resource), resource.version)
  return `${verb}${groupVersion}${qualifier}${namespaced ? 'Namespaced' : ''}${resource.kind}${suffix}`
}
