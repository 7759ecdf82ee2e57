// The last filter: paths of resources go to their verbs, the few other paths to their own answers.

import { ApiError } from '../api/api-error.js'
import { type ApiServices, noApiServices } from '../api/api-services.js'
import type { Catalog } from '../api/catalog.js'
import { readQuery } from '../api/options/query.js'
import { onceFor } from '../base/once-for.js'
import { Pieces } from '../base/pieces.js'
import { negotiate } from '../codec/negotiation.js'
import { type AggregatedDiscovery, serveAggregated } from './aggregated-discovery.js'
import type { Document } from './discovery.js'
import type { Exchange } from './exchange.js'
import type { Extensions } from './extensions.js'
import { serveDump } from './flow/dumps.js'
import type { FlowControl } from './flow/flow-control.js'
import { answerAll, answerOne, type HealthChecks, type HealthPath } from './health.js'
import type { ServerMetrics } from './metrics/server-metrics.js'
import type { OpenApiDocuments } from './openapi/documents.js'
import { serveOpenApi } from './openapi/serve-openapi.js'
import { type OpenIdSite, openIdPaths, serveOpenId } from './openid.js'
import type { Answered, Filter } from './pipeline.js'
import type { Profiles } from './profiles.js'
import { serveResource } from './resource-endpoint.js'
import { send, sendPlain, sendStream } from './respond.js'
import { type Discoverable, discoveryDocument, rootPaths, sendDiscovery } from './serve-discovery.js'
import { couldNotFind, isInScope, methodNotAllowed, type ResourceServer } from './target.js'

export interface Site {
  readonly resources: ResourceServer
  readonly health: HealthChecks
  readonly metrics: ServerMetrics
  /** Left out: they are not served. */
  readonly profiles?: Profiles | undefined
  /** The last reviews that hooks were sent, as JSON; left out: they are not kept. */
  readonly reviews?: (() => string) | undefined
  /** Whose state is shown; left out: nobody's. */
  readonly flow?: FlowControl | undefined
  readonly version: Document
  readonly openApi: OpenApiDocuments
  /** Left out where nobody could look for it. */
  readonly openId?: OpenIdSite | undefined
  /** Present while its gate is on. */
  readonly aggregated: AggregatedDiscovery | undefined
  /** Who else answers, and for what; left out: nobody does. */
  readonly extensions?: Extensions | undefined
  /** Host and port under which clients reach the server. */
  readonly address: () => string
}

/** The site with what is made once for each catalog. */
interface OpenSite extends Site {
  readonly root: (catalog: Catalog, services: ApiServices) => Buffer
}

const servicesOf = ({ extensions }: Site): ApiServices => extensions?.services.current ?? noApiServices

export function dispatch(site: Site): Filter {
  const rootOf = onceFor((catalog: Catalog) => onceFor((services: ApiServices) => indented({ paths: rootPaths(catalog, services, site) })))
  const open = { ...site, root: (catalog: Catalog, services: ApiServices) => rootOf(catalog)(services) }
  const { extensions } = site
  return (exchange) => {
    const { info, catalog } = exchange
    const remote = extensions?.find(exchange)
    if (extensions !== undefined && remote !== undefined) return extensions.serve(exchange, remote)
    if (!info.isResource) return serveOther(open, exchange)
    // Such a path leads nowhere, whatever its words mean without the slashes.
    if (info.path.startsWith('//')) return pageNotFound(exchange)
    if (!catalog.hasGroup(info.group)) return groupNotFound(exchange, info.group)
    const resource = catalog.find(info.group, info.version, info.resource)
    if (resource === undefined ? catalog.isCustomGroup(info.group) : resource.definition.custom !== undefined && !isInScope(resource, info))
      return pageNotFound(exchange)
    return serveResource(site.resources, exchange)
  }
}

function serveOther(site: OpenSite, exchange: Exchange): Answered | Promise<Answered> {
  const words = exchange.info.path.split('/').filter((word, i, all) => !(word === '' && (i === 0 || i === all.length - 1)))
  const [first] = words
  // Whoever asks for health is told, by whichever method; with a slash behind it such a path is another one.
  const isHealth = first === 'livez' || first === 'readyz' || first === 'healthz'
  if ((isHealth || first === 'metrics') && exchange.info.path.endsWith('/')) return pageNotFound(exchange)
  if (isHealth) return serveHealth(exchange, { path: first, checks: site.health[first], name: words.slice(1).join('/') })
  // The router of these does not look at methods.
  if (first === undefined || exchange.info.path === '/index.html') return sendJson(exchange, site.root(exchange.catalog, servicesOf(site)))
  const isRead = exchange.info.method === 'GET' || exchange.info.method === 'HEAD'
  if (!isRead && !hasOwnMethods(first)) return notRead(site, exchange, words)
  switch (first) {
    case 'metrics':
      return words.length === 1 ? serveMetrics(site, exchange) : pageNotFound(exchange)
    case 'debug':
      return serveDebug(site, exchange, words) || pageNotFound(exchange)
    case 'version':
      if (words.length > 1) throw couldNotFind()
      if (exchange.info.method !== 'GET') throw methodNotAllowed()
      return serveVersion(site, exchange)
    case 'openapi':
      return serveOpenApi({ documents: site.openApi, remote: site.extensions?.documents.openApi }, exchange, words).then(
        (isAnswered) => isAnswered || pageNotFound(exchange),
      )
    case '.well-known':
    case 'openid':
      if (site.openId === undefined) return pageNotFound(exchange)
      return serveOpenId(site.openId, exchange, `/${words.join('/')}`).then((isAnswered) => isAnswered || pageNotFound(exchange))
    case 'api':
    case 'apis':
      if (isRead && words.length === 1 && isAggregated(site, exchange, first)) return true
      return serveDiscovery(site, exchange, words)
    default:
      return pageNotFound(exchange)
  }
}

function isAggregated({ aggregated, extensions }: Site, exchange: Exchange, root: 'api' | 'apis'): Answered {
  if (aggregated === undefined) return false
  const remote = extensions?.documents.discovery
  const services = extensions?.services.current ?? noApiServices
  return serveAggregated(aggregated, exchange, { root, services, ...(remote === undefined ? {} : { remote }) })
}

const discoverable = (site: Site, { catalog }: Exchange): Discoverable => ({ catalog, services: servicesOf(site), address: site.address() })

function serveDebug(site: Site, exchange: Exchange, words: readonly string[]): Answered | Promise<Answered> | undefined {
  const name = words.slice(2).join('/')
  if (words[1] === 'pprof') return site.profiles?.serve(exchange, name)
  if (words[1] === 'admission' && name === 'reviews' && site.reviews !== undefined) return sendJson(exchange, Buffer.from(site.reviews()))
  return words[1] === 'api_priority_and_fairness' && site.flow !== undefined && serveDump(site.flow, exchange, name)
}

/** Whether whoever serves such paths sees to methods, or does not look at them. */
const hasOwnMethods = (first: string): boolean => first === 'openapi' || first === 'api' || first === 'apis' || first === 'metrics'

/** Some documents are read only; elsewhere there is nothing. */
function notRead(site: Site, exchange: Exchange, words: readonly string[]): Answered {
  if (words[0] === 'version') throw words.length === 1 ? methodNotAllowed() : couldNotFind()
  if (site.openId !== undefined && openIdPaths.some((path) => path === `/${words.join('/')}`)) throw methodNotAllowed()
  return pageNotFound(exchange)
}

/** Lists of groups and groups come from the aggregator, and all of custom groups from elsewhere: nobody looks at methods there. */
function isForAnyMethod({ catalog }: Exchange, [root, group = '', version]: readonly string[]): boolean {
  if (root !== 'apis') return false
  if (version !== undefined) return catalog.isCustomGroup(group)
  return group !== catalog.identity.group({ stem: 'apiregistration' })
}

function serveDiscovery(site: Site, exchange: Exchange, words: readonly string[]): Answered {
  const { catalog } = exchange
  const document = discoveryDocument(discoverable(site, exchange), words)
  if (document !== undefined) {
    if (exchange.info.method !== 'GET' && !isForAnyMethod(exchange, words)) throw methodNotAllowed()
    sendDiscovery(exchange, document)
    return true
  }
  // A version that a known group does not have is a Status; an unknown group is no place at all.
  const isKnownGroup = words[0] === 'api' ? words.length === 2 : words.length === 3 && catalog.hasGroup(words[1] ?? '')
  if (catalog.isCustomGroup(words[1] ?? '')) return pageNotFound(exchange)
  if (isKnownGroup) return serveResource(site.resources, exchange) as Answered
  return words[0] === 'apis' ? groupNotFound(exchange, words[1] ?? '') : pageNotFound(exchange)
}

/** The version is a document of the router and not of the API: JSON for everybody who takes it. */
function serveVersion(site: Site, exchange: Exchange): Answered {
  const { accept } = exchange.request.headers
  const wish = { accept, userAgent: undefined, query: readQuery('') }
  negotiate(wish, { identity: exchange.catalog.identity, formats: ['json'], transforms: false, routed: true })
  return sendJson(exchange, indented(site.version))
}

/** Documents that people read: indented, whoever asks, and without a line break at the end. */
const indented = (document: Document): Buffer => Buffer.from(JSON.stringify(document, undefined, 2))

function sendJson(exchange: Exchange, body: Buffer): Answered {
  send(exchange, { code: 200, contentType: 'application/json', body })
  return true
}

interface HealthRequest {
  readonly path: HealthPath
  readonly checks: HealthChecks[HealthPath]
  readonly name: string
}

async function serveHealth(exchange: Exchange, { path, checks, name }: HealthRequest): Promise<Answered> {
  const answer = await (name === '' ? answerAll(path, checks, readQuery(exchange.info.query)) : answerOne(checks, name))
  return answer === undefined ? pageNotFound(exchange) : plain(exchange, answer.code, answer.text)
}

async function serveMetrics(site: Site, exchange: Exchange): Promise<Answered> {
  // Whoever may look into a server closely enough to find its slow places may count them anew.
  if (exchange.info.method === 'DELETE' && site.profiles !== undefined) {
    site.metrics.reset()
    return plain(exchange, 200, 'metrics reset\n')
  }
  const { contentType, pieces } = await site.metrics.read()
  // Collectors want it compressed, and that takes longer than to write it: others have their turn meanwhile.
  if (pieces.length > fewMetrics && exchange.info.method === 'GET')
    await sendStream(exchange, { code: 200, contentType, pieces: joined(pieces), clock: new Pieces() })
  else send(exchange, { code: 200, contentType, body: Buffer.concat(pieces) })
  return true
}

const fewMetrics = 16

/** So many rows that they are worth being sent together. */
function joined(pieces: readonly Uint8Array[]): () => Uint8Array | undefined {
  let at = 0
  return () => {
    if (at >= pieces.length) return undefined
    at += fewMetrics
    return Buffer.concat(pieces.slice(at - fewMetrics, at))
  }
}

/** Whoever speaks the other vocabulary is told so: nothing else would tell them why a server that has the group says that it has not. */
function groupNotFound(exchange: Exchange, group: string): Answered {
  const { catalog } = exchange
  const own = catalog.identity.translate(group)
  if (own === undefined || !catalog.hasGroup(own.group)) return pageNotFound(exchange)
  const message = `this server speaks the identity "${catalog.identity.name}", in which ${group} is called ${own.group}; --identity=${own.from} would change that`
  throw new ApiError({ code: 404, reason: 'NotFound', message, details: {} })
}

const pageNotFound = (exchange: Exchange): Answered => plain(exchange, 404, '404 page not found\n')

function plain(exchange: Exchange, code: number, text: string): Answered {
  sendPlain(exchange, code, text)
  return true
}
