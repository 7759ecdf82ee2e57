// What a request on a resource aims at: the kind, the subresource, the object, and the form of the answer.

import { ApiError, badRequest, methodNotSupported, notFound } from '../api/api-error.js'
import { Call } from '../api/call.js'
import type { Resource, Subresource } from '../api/catalog.js'
import type { Verb } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import type { ListContext } from '../api/options/list-options.js'
import { type Query, readQuery } from '../api/options/query.js'
import type { RequestInfo } from '../api/request-info.js'
import { allFormats, type Format, negotiate } from '../codec/negotiation.js'
import type { Engine } from '../verbs/engine.js'
import type { Exchange } from './exchange.js'
import type { ObjectForm } from './represent.js'
import type { RequestSteps } from './request-steps.js'
import type { Reach } from './serve-connection.js'
import type { WatchRoom } from './watch-room.js'
import type { SentEvents } from './watch-stream.js'

export interface ResourceServer {
  readonly engine: Engine
  readonly minRequestTimeoutMs: number
  /** Who counts the events that watchers of a resource are sent. */
  readonly sentEvents?: (resource: Resource) => SentEvents
  /** Left out: any number of them. */
  readonly watches?: WatchRoom
  /** Left out: nothing is passed on to anybody else. */
  readonly reach?: Reach | undefined
  /** The worker threads for steps on large inputs; left out: all steps run on the event loop. */
  readonly steps?: RequestSteps | undefined
}

/** A request on a resource that exists, with a method that it has. */
export interface Target {
  readonly server: ResourceServer
  readonly exchange: Exchange
  readonly call: Call
  readonly query: Query
}

export const couldNotFind = (): ApiError =>
  new ApiError({ code: 404, reason: 'NotFound', message: 'the server could not find the requested resource', details: {} })

export const methodNotAllowed = (): ApiError =>
  new ApiError({
    code: 405,
    reason: 'MethodNotAllowed',
    message: 'the server does not allow this method on the requested resource',
    details: {},
  })

export const nameMissing = (): ApiError => badRequest('name must be provided')

const textFormats: readonly Format[] = ['json', 'yaml']

const noOptions = {}

/** The resource that the path names; refuses paths that lead nowhere and methods that it does not have. */
export function locate(server: ResourceServer, exchange: Exchange): Target {
  const { info } = exchange
  const resource = exchange.catalog.find(info.group, info.version, info.resource)
  const [, name = ''] = info.parts
  if (resource === undefined) throw couldNotFind()
  const isCustom = resource.definition.custom !== undefined
  // Custom kinds have no routes: nobody looks at what stands behind a subresource of theirs.
  if (info.parts.length > 3 && info.subresource !== 'proxy' && !isCustom) throw couldNotFind()
  const isNamespaceItself = info.resource === 'namespaces' && info.group === '' && name === info.namespace
  if (!resource.namespaced && info.namespace !== '' && !isNamespaceItself) throw couldNotFind()
  if (resource.namespaced && info.namespace === '' && name !== '' && info.verb !== 'watch') throw couldNotFind()
  // The old form of a watch has no subresources, and of the old form of a proxy nothing is left.
  if ((info.verb === 'watch' && info.subresource !== '') || info.verb === 'proxy') throw couldNotFind()
  const subresource = info.subresource === '' ? undefined : resource.subresources.get(info.subresource)
  if (info.subresource !== '' && subresource === undefined) throw isCustom ? notFound(resource.subject, info.name) : couldNotFind()
  if (isCustom) checkCustomMethod(exchange, resource, subresource)
  else checkMethod(exchange, resource, subresource)
  warnOfDeprecation(exchange, resource, server.engine.identity)
  const namespace = resource.namespaced ? info.namespace : ''
  const call = new Call(server.engine, exchange, { resource, subresource, namespace, name, options: noOptions })
  const target = { server, exchange, call, query: readQuery(info.query) }
  checkNames(target)
  return target
}

function checkMethod({ info }: Exchange, resource: Resource, subresource: Subresource | undefined): void {
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  // What is passed on is for others to understand.
  if (info.subresource === 'proxy' && (info.method === 'HEAD' || info.method === 'OPTIONS')) return
  if (info.method === 'HEAD' || !verbs.includes(info.verb as Verb)) throw methodNotAllowed()
  if (info.verb === 'watch' && info.method !== 'GET') throw methodNotAllowed()
  const needsName = info.verb === 'update' || info.verb === 'patch' || info.verb === 'delete'
  const isCollectionOfAll = resource.namespaced && info.namespace === ''
  if (info.verb === 'create' && info.name !== '' && subresource === undefined) throw methodNotAllowed()
  if (needsName && info.name === '') throw methodNotAllowed()
  if (isCollectionOfAll && (info.verb === 'create' || info.verb === 'deletecollection')) throw methodNotAllowed()
}

/** Whether the path of a custom kind says its scope, as far as it must. */
export const isInScope = ({ namespaced }: Resource, { namespace, verb }: RequestInfo): boolean =>
  namespaced ? namespace !== '' || verb === 'list' || verb === 'watch' : namespace === ''

/** Custom kinds have no routes of their own: what is asked for is found out from the verb, and only then whether it can be done. */
function checkCustomMethod({ info }: Exchange, resource: Resource, subresource: Subresource | undefined): void {
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  const { verb } = info
  if (!(verbs as readonly string[]).includes(verb)) throw methodNotSupported(resource.subject, verb)
  if (verb === 'watch' && info.method !== 'GET') throw methodNotAllowed()
  if (verb === 'update' && info.name === '') throw nameMissing()
}

/** Clients of a version that will go are told so with every answer. */
function warnOfDeprecation(exchange: Exchange, { deprecation, apiVersion, kind }: Resource, identity: Identity): void {
  if (deprecation === undefined) return
  const { warning, deprecatedIn, removedIn, replacement } = deprecation
  exchange.removedRelease = removedIn ?? ''
  if (warning !== undefined) {
    exchange.warn(warning)
    return
  }
  const gone = removedIn === undefined ? '' : `, unavailable in v${removedIn}+`
  const group = replacement === undefined ? '' : identity.group(replacement.group)
  const instead = replacement === undefined ? '' : `; use ${group === '' ? '' : `${group}/`}${replacement.version} ${replacement.kind}`
  exchange.warn(`${apiVersion} ${kind} is deprecated in v${deprecatedIn}+${gone}${instead}`)
}

/** Names that would mean a folder can name no object. Whoever takes no answer that there is hears of that first. */
function checkNames(target: Target): void {
  const { name, namespace } = target.exchange.info
  const problem = nameProblem(name) ?? (name === namespace ? undefined : nameProblem(namespace))
  if (problem === undefined) return
  formOf(target)
  throw badRequest(`Name parameter invalid: ${problem}`)
}

function nameProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `"${name}": may not be '${name}'`
  return name.includes('%') ? `"${name}": may not contain '%'` : undefined
}

export function formOf(target: Target): ObjectForm {
  const { exchange, query, server, call } = target
  const wish = { accept: exchange.request.headers.accept, userAgent: exchange.request.headers['user-agent'], query }
  const identity = server.engine.identity
  const representation = negotiate(wish, {
    identity,
    formats: allFormats,
    ...(call.resource.definition.custom === undefined || call.subresource?.view !== undefined ? {} : { plainFormats: textFormats }),
    transforms: true,
    tables: hasTable(target),
    streams: exchange.info.verb === 'list' || exchange.info.verb === 'watch',
    routed: call.resource.definition.custom === undefined,
  })
  return {
    representation,
    identity,
    resource: call.subresource?.shown ?? call.resource,
    query,
    rules: call,
  }
}

/** Questions and actions are answered once, and a few parts of objects are not for people to read. */
const hasTable = ({ call: { resource, subresource } }: Target): boolean =>
  subresource === undefined
    ? resource.definition.review === undefined && resource.definition.postsTo === undefined
    : subresource.body === undefined && !subresource.hasNoTable

export const listContext = ({ server, call: { resource } }: Target): ListContext => ({
  identity: server.engine.identity,
  fields: resource.selectable,
})
