// The routes of subresources: status, scale, actions such as eviction, connections such as exec and proxy, and logs.

import type { SubresourceDefinition, Verb } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { GroupName } from '@cluster-apiserver/api/api/identity.js'
import * as s from '@cluster-apiserver/api/schema/node.js'
import type { PublishedKind } from '@cluster-apiserver/api/schema/openapi/openapi.js'
import { capitalize, operation, type PublishedResource, readAndWrite } from './operations.js'
import { nameInPath, pathInPath, queryParameters } from './parameters.js'
import type { Method, Operation, Route } from './route.js'

export function subresourceRoutes(published: PublishedResource, objectPath: string): readonly Route[] {
  return (published.resource.definition.subresources ?? []).flatMap((subresource) => {
    const path = `${objectPath}/${subresource.name}`
    const { document } = published
    if (!isConnection(subresource)) return [{ path, document, operations: operationsOf(published, subresource) }]
    const connections = [{ path, document, operations: connectOperations(published, subresource, '') }]
    return isProxy(subresource)
      ? [...connections, { path: `${path}/{path}`, document, operations: connectOperations(published, subresource, 'WithPath') }]
      : connections
  })
}

/** The kind of a connection is its options type; logs have options as well, but the kind of the object. */
const isConnection = ({ body, query }: SubresourceDefinition): boolean => query !== undefined && body?.kind === query.name

/** Proxy subresources accept a path and every method. */
const isProxy = ({ query }: SubresourceDefinition): boolean => query !== undefined && 'path' in query.fields

function operationsOf(published: PublishedResource, subresource: SubresourceDefinition): readonly Operation[] {
  const { publisher, resource } = published
  const { name, verbs, view, body, query } = subresource
  if (query !== undefined) return [logOperation(published, name, query)]
  if (body !== undefined) return verbs.includes('create') ? [actionOperation(published, subresource)] : []
  const common = { verbs, subresource: name, suffix: capitalize(name) }
  const operations = readAndWrite(published, { ...common, schema: view?.schema ?? publisher.schemaOf(resource) })
  return view === undefined ? operations : operations.map((one) => ({ ...one, kind: kindOf(published, view) }))
}

interface KindName {
  readonly kind: string
  readonly group?: GroupName
  readonly version?: string
}

/** Group and version default to those of the resource. */
function kindOf({ publisher, resource }: PublishedResource, { kind, group, version }: KindName): PublishedKind {
  return {
    group: group === undefined ? resource.group : publisher.identity.group(group),
    version: version ?? resource.version,
    kind,
  }
}

function actionOperation(published: PublishedResource, { name, body }: SubresourceDefinition): Operation {
  const { publisher, resource } = published
  const node = body?.schema ?? s.any('raw')
  const created = operation(published, {
    method: 'post',
    action: 'post',
    verb: 'create',
    namespaced: resource.namespaced,
    suffix: capitalize(name),
    description: `Creates the ${name} of an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.post],
    body: { node, mediaTypes: publisher.mediaTypesOf(resource).body, required: true },
    responses: { 200: node, 201: node, 202: node },
  })
  return body === undefined ? created : { ...created, kind: kindOf(published, body) }
}

function logOperation(published: PublishedResource, name: string, query: s.StructNode): Operation {
  const { publisher, resource } = published
  return operation(published, {
    method: 'get',
    action: 'get',
    verb: 'read',
    namespaced: resource.namespaced,
    suffix: capitalize(name),
    description: `Reads the ${name} of an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.get, ...queryParameters(query, publisher.describe)],
    responses: { 200: s.string },
    produces: publisher.mediaTypesOf(resource).text,
  })
}

const methods: readonly (readonly [Verb, Method])[] = [
  ['get', 'get'],
  ['update', 'put'],
  ['create', 'post'],
  ['delete', 'delete'],
  ['patch', 'patch'],
]

function connectOperations(
  published: PublishedResource,
  subresource: SubresourceDefinition,
  suffix: '' | 'WithPath',
): readonly Operation[] {
  const { publisher, resource } = published
  const { name, verbs, body, query } = subresource
  const served = methods.flatMap(([verb, method]) => (verbs.includes(verb) ? [method] : []))
  const parameters = [nameInPath, ...(suffix === '' ? [] : [pathInPath]), ...(query ? queryParameters(query, publisher.describe) : [])]
  return [...served, ...(isProxy(subresource) ? (['options', 'head'] as const) : [])].map((method) => ({
    ...operation(published, {
      method,
      action: 'connect',
      verb: 'connect',
      qualifier: capitalize(method),
      namespaced: resource.namespaced,
      suffix: `${capitalize(name)}${suffix}`,
      description: `Connects ${method.toUpperCase()} requests to the ${name} of an object of kind ${resource.kind}.`,
      parameters,
      responses: { 200: s.string },
      produces: ['*/*'],
    }),
    ...(body && { kind: kindOf(published, body) }),
  }))
}
