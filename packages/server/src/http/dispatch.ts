// The last filter: dispatches a request to the verb of its resource, to an extension server, or to one of the non-resource paths.

import { ApiError } from '@cluster-apiserver/api/api/api-error.js'
import { type ApiServices, noApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { negotiate } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { dumpTable } from '../flow-control/priority-and-fairness/debug-dumps.js'
import type { PriorityAndFairness } from '../flow-control/priority-and-fairness/priority-and-fairness.js'
import type { OpenApiDocuments } from '../openapi/documents/documents.js'
import type { AggregationLayer } from './aggregation/aggregation-layer.js'
import { type HealthChecks, type HealthPath, runCheck, runChecks } from './diagnostics/health-checks.js'
import type { Profiles } from './diagnostics/pprof-profiles.js'
import { type AggregatedDiscovery, serveAggregated } from './discovery/aggregated-discovery.js'
import type { Document } from './discovery/discovery-documents.js'
import { type OpenIdConfig, openIdPaths, serveOpenId } from './discovery/openid-discovery.js'
import { type Discoverable, discoveryDocument, rootPaths, sendDiscovery } from './discovery/serve-discovery.js'
import { serveOpenApi } from './discovery/serve-openapi.js'
import type { ServerMetrics } from './metrics/request-metrics.js'
import type { Exchange } from './pipeline/exchange.js'
import type { Filter, Handled } from './pipeline/filter.js'
import { send, sendPlain } from './responses/send-response.js'
import { serveActionOrConnection } from './rest/serve-actions-and-connections.js'
import { serveDelete, serveDeleteCollection } from './rest/serve-delete.js'
import { serveGet, serveList, serveWatch } from './rest/serve-read.js'
import { serveCreate, servePatch, serveUpdate } from './rest/serve-write.js'
import { couldNotFind, isActionOrConnection, isInScope, locate, methodNotAllowed, type ResourceServer } from './rest/target.js'

/** The endpoints of the server. */
export interface Endpoints {
  readonly resources: ResourceServer
  readonly health: HealthChecks
  readonly metrics: ServerMetrics
  readonly profiles?: Profiles | undefined
  /** JSON of the recorded admission reviews, for /debug/admission/reviews. */
  readonly reviews?: (() => string) | undefined
  readonly flow?: PriorityAndFairness | undefined
  readonly version: Document
  readonly openApi: OpenApiDocuments
  readonly openId?: OpenIdConfig | undefined
  readonly aggregated: AggregatedDiscovery | undefined
  readonly aggregation?: AggregationLayer | undefined
  readonly address: () => string
}

interface RootEndpoints extends Endpoints {
  /** The document of `/`. */
  readonly root: (catalog: Catalog, services: ApiServices) => Buffer
}

const hasOpenApiV3 = ({ resources }: Endpoints): boolean => resources.engine.gates('OpenAPIV3')

const servicesOf = ({ aggregation }: Endpoints): ApiServices => aggregation?.services.current ?? noApiServices

export function dispatch(endpoints: Endpoints): Filter {
  const rootOf = weakMemoize((catalog: Catalog) =>
    weakMemoize((services: ApiServices) =>
      indented({ paths: rootPaths(catalog, services, { ...endpoints, hasOpenApiV3: hasOpenApiV3(endpoints) }) }),
    ),
  )
  const rootEndpoints = { ...endpoints, root: (catalog: Catalog, services: ApiServices) => rootOf(catalog)(services) }
  const { aggregation } = endpoints
  return (exchange) => {
    const { info, catalog } = exchange
    if (aggregation !== undefined && aggregation.services.current.remotes.length > 0) {
      const remote = aggregation.find(exchange)
      if (remote !== undefined) return aggregation.serve(exchange, remote)
    }
    if (!info.isResource) return serveNonResource(rootEndpoints, exchange)
    // As in kube-apiserver, `//x` is not `/x`.
    if (info.path.startsWith('//')) return pageNotFound(exchange)
    if (!catalog.hasGroup(info.group)) return groupNotFound(exchange, info.group)
    const { resource } = exchange
    if (resource === undefined ? catalog.isCustomGroup(info.group) : resource.definition.custom !== undefined && !isInScope(resource, info))
      return pageNotFound(exchange)
    return serveResource(endpoints.resources, exchange)
  }
}

async function serveNonResource(endpoints: RootEndpoints, exchange: Exchange): Promise<Handled> {
  const segments = exchange.info.path.split('/').filter((segment, i, all) => !(segment === '' && (i === 0 || i === all.length - 1)))
  const [first] = segments
  // Health paths accept every method, and no trailing slash.
  const isHealth = first === 'livez' || first === 'readyz' || first === 'healthz'
  if ((isHealth || first === 'metrics') && exchange.info.path.endsWith('/')) return pageNotFound(exchange)
  if (isHealth) return serveHealth(exchange, { path: first, checks: endpoints.health[first], name: segments.slice(1).join('/') })
  // `/` accepts every method.
  if (first === undefined || exchange.info.path === '/index.html')
    return sendJson(exchange, endpoints.root(exchange.catalog, servicesOf(endpoints)))
  const isRead = exchange.info.method === 'GET' || exchange.info.method === 'HEAD'
  if (!isRead && !checksMethods(first)) return refuseMethod(endpoints, exchange, segments)
  switch (first) {
    case 'metrics':
      return segments.length === 1 ? serveMetrics(endpoints, exchange) : pageNotFound(exchange)
    case 'debug':
      return (await serveDebug(endpoints, exchange, segments)) || pageNotFound(exchange)
    case 'version':
      if (segments.length > 1) throw couldNotFind()
      if (exchange.info.method !== 'GET') throw methodNotAllowed()
      return serveVersion(endpoints, exchange)
    case 'openapi':
      return (
        (await serveOpenApi(
          { documents: endpoints.openApi, remote: endpoints.aggregation?.documents.openApi, hasV3: hasOpenApiV3(endpoints) },
          exchange,
          segments,
        )) || pageNotFound(exchange)
      )
    case '.well-known':
    case 'openid':
      if (endpoints.openId === undefined) return pageNotFound(exchange)
      return (await serveOpenId(endpoints.openId, exchange, `/${segments.join('/')}`)) || pageNotFound(exchange)
    case 'api':
    case 'apis':
      if (isRead && segments.length === 1 && serveAggregatedDiscovery(endpoints, exchange, first)) return true
      return serveDiscovery(endpoints, exchange, segments)
    default:
      return pageNotFound(exchange)
  }
}

function serveAggregatedDiscovery({ aggregated, aggregation }: Endpoints, exchange: Exchange, root: 'api' | 'apis'): Handled {
  if (aggregated === undefined) return false
  const remote = aggregation?.documents.discovery
  const services = aggregation?.services.current ?? noApiServices
  return serveAggregated(aggregated, exchange, { root, services, ...(remote === undefined ? {} : { remote }) })
}

const discoverable = (endpoints: Endpoints, { catalog }: Exchange): Discoverable => ({
  catalog,
  services: servicesOf(endpoints),
  address: endpoints.address(),
})

async function serveDebug(endpoints: Endpoints, exchange: Exchange, segments: readonly string[]): Promise<Handled> {
  const name = segments.slice(2).join('/')
  if (segments[1] === 'pprof') return (await endpoints.profiles?.serve(exchange, name)) ?? false
  if (segments[1] === 'admission' && name === 'reviews' && endpoints.reviews !== undefined)
    return sendJson(exchange, Buffer.from(endpoints.reviews()))
  if (segments[1] !== 'api_priority_and_fairness' || endpoints.flow === undefined) return false
  const dump = dumpTable(endpoints.flow, name, readQuery(exchange.info.query).first('includeRequestDetails') === '1')
  return dump !== undefined && sendText(exchange, 200, dump)
}

/** True if the function that serves the path checks the method, or accepts every method. */
const checksMethods = (first: string): boolean => first === 'openapi' || first === 'api' || first === 'apis' || first === 'metrics'

function refuseMethod(endpoints: Endpoints, exchange: Exchange, segments: readonly string[]): Handled {
  if (segments[0] === 'version') throw segments.length === 1 ? methodNotAllowed() : couldNotFind()
  if (endpoints.openId !== undefined && openIdPaths.some((path) => path === `/${segments.join('/')}`)) throw methodNotAllowed()
  return pageNotFound(exchange)
}

/** As in kube-apiserver, the aggregator and the server of custom resources do not check the method. */
function acceptsAnyMethod({ catalog }: Exchange, [root, group = '', version]: readonly string[]): boolean {
  if (root !== 'apis') return false
  if (version !== undefined) return catalog.isCustomGroup(group)
  return group !== catalog.identity.group({ stem: 'apiregistration' })
}

async function serveDiscovery(endpoints: Endpoints, exchange: Exchange, segments: readonly string[]): Promise<Handled> {
  const { catalog } = exchange
  const document = discoveryDocument(discoverable(endpoints, exchange), segments)
  if (document !== undefined) {
    if (exchange.info.method !== 'GET' && !acceptsAnyMethod(exchange, segments)) throw methodNotAllowed()
    sendDiscovery(exchange, document)
    return true
  }
  // As in kube-apiserver, an unknown version of a known group is a Status, and an unknown group plain text.
  const isKnownGroup = segments[0] === 'api' ? segments.length === 2 : segments.length === 3 && catalog.hasGroup(segments[1] ?? '')
  if (catalog.isCustomGroup(segments[1] ?? '')) return pageNotFound(exchange)
  if (isKnownGroup) return serveResource(endpoints.resources, exchange)
  return segments[0] === 'apis' ? groupNotFound(exchange, segments[1] ?? '') : pageNotFound(exchange)
}

function serveVersion(endpoints: Endpoints, exchange: Exchange): Handled {
  const { accept } = exchange.request.headers
  const preferences = { accept, userAgent: undefined, query: readQuery('') }
  negotiate(preferences, { identity: exchange.catalog.identity, formats: ['json'], transforms: false, routed: true })
  return sendJson(exchange, indented(endpoints.version))
}

const indented = (document: Document): Buffer => Buffer.from(JSON.stringify(document, undefined, 2))

function sendJson(exchange: Exchange, body: Buffer): Handled {
  send(exchange, { code: 200, contentType: 'application/json', body })
  return true
}

interface HealthRequest {
  readonly path: HealthPath
  readonly checks: HealthChecks[HealthPath]
  readonly name: string
}

async function serveHealth(exchange: Exchange, { path, checks, name }: HealthRequest): Promise<Handled> {
  const result = await (name === '' ? runChecks(path, checks, readQuery(exchange.info.query)) : runCheck(checks, name))
  return result === undefined ? pageNotFound(exchange) : sendText(exchange, result.code, result.text)
}

async function serveMetrics(endpoints: Endpoints, exchange: Exchange): Promise<Handled> {
  // As in kube-apiserver, metrics can be reset where profiling is enabled.
  if (exchange.info.method === 'DELETE' && endpoints.profiles !== undefined) {
    endpoints.metrics.reset()
    return sendText(exchange, 200, 'metrics reset\n')
  }
  const { contentType, chunks } = await endpoints.metrics.read()
  send(exchange, { code: 200, contentType, body: Buffer.concat(chunks) })
  return true
}

/** Explains the 404 to clients that use the group names of the other --identity. */
function groupNotFound(exchange: Exchange, group: string): Handled {
  const { catalog } = exchange
  const translated = catalog.identity.translate(group)
  if (translated === undefined || !catalog.hasGroup(translated.group)) return pageNotFound(exchange)
  const message = `this server speaks the identity "${catalog.identity.name}", in which ${group} is called ${translated.group}; --identity=${translated.from} would change that`
  throw new ApiError({ code: 404, reason: 'NotFound', message, details: {} })
}

const pageNotFound = (exchange: Exchange): Handled => sendText(exchange, 404, '404 page not found\n')

function sendText(exchange: Exchange, code: number, text: string): Handled {
  sendPlain(exchange, code, text)
  return true
}

export function serveResource(server: ResourceServer, exchange: Exchange): Promise<Handled> {
  const target = locate(server, exchange)
  if (isActionOrConnection(target)) return serveActionOrConnection(target)
  switch (exchange.info.verb) {
    case 'get':
      return serveGet(target)
    case 'list':
      return serveList(target)
    case 'watch':
      return serveWatch(target)
    case 'create':
      return serveCreate(target)
    case 'update':
      return serveUpdate(target)
    case 'patch':
      return servePatch(target)
    case 'delete':
      return serveDelete(target)
    case 'deletecollection':
      return serveDeleteCollection(target)
    default:
      throw methodNotAllowed()
  }
}
