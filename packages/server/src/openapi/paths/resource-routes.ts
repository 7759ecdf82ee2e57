// The routes of a resource: collection, object, deprecated watch paths, and subresources.

import type { Verb } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { isCustom } from '../published-types.js'
import { operation, type PublishedResource, readAndWrite } from './operations.js'
import { nameInPath } from './parameters.js'
import type { Operation, Route } from './route.js'
import { subresourceRoutes } from './subresource-routes.js'

export function resourceRoutes(published: PublishedResource): readonly Route[] {
  const { resource, root } = published
  const scope = resource.namespaced ? '/namespaces/{namespace}' : ''
  const collection = `${root}${scope}/${resource.name}`
  const allNamespaces: Route[] = resource.namespaced
    ? [
        route(published, `${root}/${resource.name}`, [listOperation(published, 'all')]),
        watchRoute(published, `${root}/watch/${resource.name}`, 'all'),
      ]
    : []
  return [
    ...allNamespaces,
    route(published, collection, collectionOperations(published)),
    route(published, `${collection}/{name}`, objectOperations(published)),
    watchRoute(published, `${root}/watch${scope}/${resource.name}`, 'one'),
    watchRoute(published, `${root}/watch${scope}/${resource.name}/{name}`, 'object'),
    ...subresourceRoutes(published, `${collection}/{name}`),
  ].filter(({ operations }) => operations.length > 0)
}

/** Undefined if the resource does not support the verb. */
type OptionalOperation = Operation | undefined

const route = ({ document }: PublishedResource, path: string, operations: readonly OptionalOperation[]): Route => ({
  path,
  document,
  operations: operations.filter((operation) => operation !== undefined),
})

const hasVerb = ({ resource }: PublishedResource, verb: Verb): boolean => resource.verbs.includes(verb)

/** Objects that a list or watch covers: those of one namespace or of a cluster-scoped kind, of all namespaces, or a single one. */
type Extent = 'one' | 'all' | 'object'

function listOperation(published: PublishedResource, extent: Exclude<Extent, 'object'>): OptionalOperation {
  const { publisher, resource } = published
  if (!hasVerb(published, 'list')) return undefined
  return operation(published, {
    method: 'get',
    action: 'list',
    verb: 'list',
    namespaced: resource.namespaced && extent === 'one',
    suffix: extent === 'all' ? 'ForAllNamespaces' : '',
    description: `List of objects of kind ${resource.kind}, or a watch.`,
    parameters: publisher.parameters.list,
    responses: { 200: publisher.listOf(resource) },
    produces: publisher.mediaTypesOf(resource).objectOrWatch,
  })
}

/** Deprecated watch paths, which custom resources do not have. */
function watchRoute(published: PublishedResource, path: string, extent: Extent): Route {
  const { publisher, resource } = published
  if (!hasVerb(published, 'watch') || isCustom(resource)) return route(published, path, [])
  const isObject = extent === 'object'
  return route(published, path, [
    operation(published, {
      method: 'get',
      action: isObject ? 'watch' : 'watchlist',
      verb: 'watch',
      namespaced: resource.namespaced && extent !== 'all',
      suffix: `${isObject ? '' : 'List'}${extent === 'all' ? 'ForAllNamespaces' : ''}`,
      description: `Watch for changes to the described resources: ${isObject ? 'one object' : 'objects'} of kind ${resource.kind}. The parameter 'watch' of a list does the same.`,
      parameters: [...publisher.parameters.list, ...(isObject ? [nameInPath] : [])],
      responses: { 200: meta.watchEvent },
      produces: publisher.mediaTypesOf(resource).objectOrWatch,
    }),
  ])
}

function collectionOperations(published: PublishedResource): readonly OptionalOperation[] {
  const { publisher, resource } = published
  const { parameters } = publisher
  const { kind, namespaced } = resource
  const schema = publisher.schemaOf(resource)
  const { body } = publisher.mediaTypesOf(resource)
  return [
    listOperation(published, 'one'),
    hasVerb(published, 'create')
      ? operation(published, {
          method: 'post',
          action: 'post',
          verb: 'create',
          namespaced,
          description: `Creates an object of kind ${kind}.`,
          parameters: parameters.post,
          body: { node: schema, mediaTypes: body, required: true },
          responses: { 200: schema, 201: schema, 202: schema },
        })
      : undefined,
    hasVerb(published, 'deletecollection')
      ? operation(published, {
          method: 'delete',
          action: 'deletecollection',
          verb: 'delete',
          qualifier: 'Collection',
          namespaced,
          description: `Deletes the selected objects of kind ${kind}.`,
          ...(isCustom(resource)
            ? { parameters: parameters.list }
            : { parameters: parameters.deletecollection, body: { node: meta.deleteOptions, mediaTypes: body, required: false } }),
          responses: { 200: meta.status },
        })
      : undefined,
  ]
}

function objectOperations(published: PublishedResource): readonly OptionalOperation[] {
  return [
    ...readAndWrite(published, {
      verbs: published.resource.verbs,
      schema: published.publisher.schemaOf(published.resource),
      subresource: '',
    }),
    hasVerb(published, 'delete') ? deleteOperation(published) : undefined,
  ]
}

function deleteOperation(published: PublishedResource): Operation {
  const { publisher, resource } = published
  const { deleteReturnsObject, isDeletionBlocked } = resource.definition
  // As in kube-apiserver, kinds with finalization of their own publish Status.
  const response = deleteReturnsObject && isDeletionBlocked === undefined ? publisher.schemaOf(resource) : meta.status
  return operation(published, {
    method: 'delete',
    action: 'delete',
    verb: 'delete',
    namespaced: resource.namespaced,
    description: `Deletes an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.delete],
    body: { node: meta.deleteOptions, mediaTypes: publisher.mediaTypesOf(resource).body, required: false },
    responses: { 200: response, 202: response },
  })
}
