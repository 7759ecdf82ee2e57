// The paths of a resource, as they follow from its definition: collection, object, the old paths of watches, and the subresources.

import type { Verb } from '../../api/definition.js'
import * as meta from '../../api/meta.schema.js'
import { operation, readAndWrite, type Subject } from './operations.js'
import { nameInPath } from './parameters.js'
import { isCustom } from './publisher.js'
import type { Operation, Route } from './route.js'
import { subresourceRoutes } from './subresource-routes.js'

export function resourceRoutes(subject: Subject): readonly Route[] {
  const { resource, root } = subject
  const scope = resource.namespaced ? '/namespaces/{namespace}' : ''
  const collection = `${root}${scope}/${resource.name}`
  const everywhere: Route[] = resource.namespaced
    ? [route(subject, `${root}/${resource.name}`, [listing(subject, 'all')]), watch(subject, `${root}/watch/${resource.name}`, 'all')]
    : []
  return [
    ...everywhere,
    route(subject, collection, collectionOperations(subject)),
    route(subject, `${collection}/{name}`, objectOperations(subject)),
    watch(subject, `${root}/watch${scope}/${resource.name}`, 'one'),
    watch(subject, `${root}/watch${scope}/${resource.name}/{name}`, 'object'),
    ...subresourceRoutes(subject, `${collection}/{name}`),
  ].filter(({ operations }) => operations.length > 0)
}

/** A verb that the resource does not have leaves nothing behind. */
type Optional = Operation | undefined

const route = ({ document }: Subject, path: string, operations: readonly Optional[]): Route => ({
  path,
  document,
  operations: operations.filter((operation) => operation !== undefined),
})

const has = ({ resource }: Subject, verb: Verb): boolean => resource.verbs.includes(verb)

/** In one namespace (or none) or in all of them; or a single object. */
type Extent = 'one' | 'all' | 'object'

function listing(subject: Subject, extent: Exclude<Extent, 'object'>): Optional {
  const { publisher, resource } = subject
  if (!has(subject, 'list')) return undefined
  return operation(subject, {
    method: 'get',
    action: 'list',
    verb: 'list',
    namespaced: resource.namespaced && extent === 'one',
    suffix: extent === 'all' ? 'ForAllNamespaces' : '',
    description: `Lists or watches objects of kind ${resource.kind}.`,
    parameters: publisher.parameters.list,
    answers: { 200: publisher.listOf(resource) },
    produces: publisher.mediaTypesOf(resource).objectOrWatch,
  })
}

/** The paths of watches from before there was the parameter `watch`; of custom kinds nobody is told of them. */
function watch(subject: Subject, path: string, extent: Extent): Route {
  const { publisher, resource } = subject
  if (!has(subject, 'watch') || isCustom(resource)) return route(subject, path, [])
  const isObject = extent === 'object'
  return route(subject, path, [
    operation(subject, {
      method: 'get',
      action: isObject ? 'watch' : 'watchlist',
      verb: 'watch',
      namespaced: resource.namespaced && extent !== 'all',
      suffix: `${isObject ? '' : 'List'}${extent === 'all' ? 'ForAllNamespaces' : ''}`,
      description: `Watches ${isObject ? 'one object' : 'objects'} of kind ${resource.kind}; the parameter 'watch' of a list does the same.`,
      parameters: [...publisher.parameters.list, ...(isObject ? [nameInPath] : [])],
      answers: { 200: meta.watchEvent },
      produces: publisher.mediaTypesOf(resource).objectOrWatch,
    }),
  ])
}

function collectionOperations(subject: Subject): readonly Optional[] {
  const { publisher, resource } = subject
  const { parameters } = publisher
  const { kind, namespaced } = resource
  const schema = publisher.schemaOf(resource)
  const { body } = publisher.mediaTypesOf(resource)
  return [
    listing(subject, 'one'),
    has(subject, 'create')
      ? operation(subject, {
          method: 'post',
          action: 'post',
          verb: 'create',
          namespaced,
          description: `Creates an object of kind ${kind}.`,
          parameters: parameters.post,
          body: { node: schema, mediaTypes: body, required: true },
          answers: { 200: schema, 201: schema, 202: schema },
        })
      : undefined,
    has(subject, 'deletecollection')
      ? operation(subject, {
          method: 'delete',
          action: 'deletecollection',
          verb: 'delete',
          qualifier: 'Collection',
          namespaced,
          description: `Deletes the objects of kind ${kind} that are selected.`,
          ...(isCustom(resource)
            ? { parameters: parameters.list }
            : { parameters: parameters.deletecollection, body: { node: meta.deleteOptions, mediaTypes: body, required: false } }),
          answers: { 200: meta.status },
        })
      : undefined,
  ]
}

function objectOperations(subject: Subject): readonly Optional[] {
  return [
    ...readAndWrite(subject, { verbs: subject.resource.verbs, schema: subject.publisher.schemaOf(subject.resource), what: '' }),
    has(subject, 'delete') ? deletion(subject) : undefined,
  ]
}

function deletion(subject: Subject): Operation {
  const { publisher, resource } = subject
  const { deleteReturnsObject, isHeld } = resource.definition
  // A kind that holds its objects promises no more than what remains once it lets go.
  const answer = deleteReturnsObject && isHeld === undefined ? publisher.schemaOf(resource) : meta.status
  return operation(subject, {
    method: 'delete',
    action: 'delete',
    verb: 'delete',
    namespaced: resource.namespaced,
    description: `Deletes an object of kind ${resource.kind}.`,
    parameters: [nameInPath, ...publisher.parameters.delete],
    body: { node: meta.deleteOptions, mediaTypes: publisher.mediaTypesOf(resource).body, required: false },
    answers: { 200: answer, 202: answer },
  })
}
