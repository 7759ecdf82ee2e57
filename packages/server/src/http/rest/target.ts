// The target of a request on a resource: resource, subresource and object name, checked against the served paths and verbs.

import { ApiError, badRequest, methodNotSupported, notFound } from '@cluster-apiserver/api/api/api-error.js'
import { Call } from '@cluster-apiserver/api/api/call.js'
import type { Resource, Subresource } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Verb } from '@cluster-apiserver/api/api/definition/resource-definition.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import type { ListContext } from '@cluster-apiserver/api/api/options/list-options.js'
import { type Query, readQuery } from '@cluster-apiserver/api/api/options/query.js'
import type { RequestInfo } from '@cluster-apiserver/api/api/request-info.js'
import { allFormats, type Format, negotiate } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { Engine } from '../../verbs/engine.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import type { Backends } from '../proxy/backends.js'
import type { ObjectFormat } from '../responses/representation.js'
import type { WatchLimits } from '../watch/watch-limits.js'
import type { SentEvents, WatchSource } from '../watch/watch-stream.js'
import type { RequestSteps } from './worker-steps.js'

/** Takes part in requests, for a test kit. */
export interface RequestInterception {
  /** Called with the name in the body of a create request, or ''; true ends the request. */
  onCreate(exchange: Exchange, name: string): Promise<Handled>
  wrapWatch(exchange: Exchange, watch: WatchSource): WatchSource
}

export interface ResourceServer {
  readonly engine: Engine
  readonly minRequestTimeoutMs: number
  readonly sentEvents?: (resource: Resource) => SentEvents
  readonly watchLimits?: WatchLimits
  /** Undefined: connections to kubelets, pods and services are refused. */
  readonly backends?: Backends | undefined
  /** Undefined: all steps run on the event loop. */
  readonly steps?: RequestSteps | undefined
  /** Undefined without a test kit. */
  readonly interception?: RequestInterception | undefined
}

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

/** Throws 404 and 405 for paths and methods that are not served. */
export function locate(server: ResourceServer, exchange: Exchange): Target {
  const { info, resource } = exchange
  const [, name = ''] = info.parts
  if (resource === undefined) throw couldNotFind()
  const isCustom = resource.definition.custom !== undefined
  // As in kube-apiserver, custom resources ignore segments after a subresource.
  if (info.parts.length > 3 && info.subresource !== 'proxy' && !isCustom) throw couldNotFind()
  const isNamespaceItself = info.resource === 'namespaces' && info.group === '' && name === info.namespace
  if (!resource.namespaced && info.namespace !== '' && !isNamespaceItself) throw couldNotFind()
  if (resource.namespaced && info.namespace === '' && name !== '' && info.verb !== 'watch') throw couldNotFind()
  // Deprecated /watch/ paths have no subresources; deprecated /proxy/ paths are not served.
  if ((info.verb === 'watch' && info.subresource !== '') || info.verb === 'proxy') throw couldNotFind()
  // As in kube-apiserver, custom resources warn before the path is checked further.
  if (isCustom) warnOfDeprecation(exchange, resource, server.engine.identity)
  const subresource = info.subresource === '' ? undefined : resource.subresources.get(info.subresource)
  if (info.subresource !== '' && subresource === undefined) throw isCustom ? notFound(resource.subject, info.name) : couldNotFind()
  if (isCustom) checkCustomMethod(exchange, resource, subresource)
  else {
    checkMethod(exchange, resource, subresource)
    warnOfDeprecation(exchange, resource, server.engine.identity)
  }
  const namespace = resource.namespaced ? info.namespace : ''
  const call = new Call(server.engine, exchange, { resource, subresource, namespace, name, options: noOptions })
  const target = { server, exchange, call, query: readQuery(info.query) }
  checkNames(target)
  return target
}

function checkMethod({ info }: Exchange, resource: Resource, subresource: Subresource | undefined): void {
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  // Proxied requests pass these methods to the backend.
  if (info.subresource === 'proxy' && (info.method === 'HEAD' || info.method === 'OPTIONS')) return
  if (info.method === 'HEAD' || !verbs.includes(info.verb as Verb)) throw methodNotAllowed()
  if (info.verb === 'watch' && info.method !== 'GET') throw methodNotAllowed()
  const requiresName = info.verb === 'update' || info.verb === 'patch' || info.verb === 'delete'
  const isCollectionOfAll = resource.namespaced && info.namespace === ''
  if (info.verb === 'create' && info.name !== '' && subresource === undefined) throw methodNotAllowed()
  if (requiresName && info.name === '') throw methodNotAllowed()
  if (isCollectionOfAll && (info.verb === 'create' || info.verb === 'deletecollection')) throw methodNotAllowed()
}

/** True if the path has a namespace for a namespaced kind (optional for list and watch), and none for a cluster-scoped one. */
export const isInScope = ({ namespaced }: Resource, { namespace, verb }: RequestInfo): boolean =>
  namespaced ? namespace !== '' || verb === 'list' || verb === 'watch' : namespace === ''

/** kube-apiserver has no routes for custom resources, so an unsupported verb returns another error than for built-in resources. */
function checkCustomMethod({ info }: Exchange, resource: Resource, subresource: Subresource | undefined): void {
  const verbs: readonly Verb[] = subresource?.verbs ?? resource.verbs
  const { verb } = info
  if (!(verbs as readonly string[]).includes(verb)) throw methodNotSupported(resource.subject, verb)
  if (verb === 'watch' && info.method !== 'GET') throw methodNotAllowed()
  if (verb === 'update' && info.name === '') throw nameMissing()
}

function warnOfDeprecation(exchange: Exchange, { deprecation, apiVersion, kind }: Resource, identity: Identity): void {
  if (deprecation === undefined) return
  const { warning, deprecatedIn, removedIn, replacement } = deprecation
  exchange.removedRelease = removedIn ?? ''
  if (warning !== undefined) {
    exchange.warn(warning)
    return
  }
  const removal = removedIn === undefined ? '' : `, unavailable in v${removedIn}+`
  const group = replacement === undefined ? '' : identity.group(replacement.group)
  const instead = replacement === undefined ? '' : `; use ${group === '' ? '' : `${group}/`}${replacement.version} ${replacement.kind}`
  exchange.warn(`${apiVersion} ${kind} is deprecated in v${deprecatedIn}+${removal}${instead}`)
}

/** Rejects names such as `..` or with percent-encoding; after the check for 406, as in kube-apiserver. */
function checkNames(target: Target): void {
  const { name, namespace } = target.exchange.info
  const problem = nameProblem(name) ?? (name === namespace ? undefined : nameProblem(namespace))
  if (problem === undefined) return
  negotiateFormat(target)
  throw badRequest(`Name parameter invalid: ${problem}`)
}

function nameProblem(name: string): string | undefined {
  if (name === '.' || name === '..') return `"${name}": may not be '${name}'`
  return name.includes('%') ? `"${name}": may not contain '%'` : undefined
}

export function negotiateFormat(target: Target): ObjectFormat {
  const { exchange, query, server, call } = target
  const preferences = { accept: exchange.request.headers.accept, userAgent: exchange.request.headers['user-agent'], query }
  const identity = server.engine.identity
  const representation = negotiate(preferences, {
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
    addLatency: exchange.addLatency,
  }
}

/** False for reviews, actions and some subresources. */
const hasTable = ({ call: { resource, subresource } }: Target): boolean =>
  subresource === undefined
    ? resource.definition.review === undefined && resource.definition.postsTo === undefined
    : subresource.body === undefined && !subresource.hasNoTable

/** True for actions, such as bindings and evictions, and for connections, such as logs and exec. */
export const isActionOrConnection = ({ call }: Target): boolean => call.subresource?.body !== undefined

export const listContext = ({ server, call: { resource } }: Target): ListContext => ({
  identity: server.engine.identity,
  fields: resource.selectable,
  isUnpaged: !server.engine.gates('APIListChunking'),
})
