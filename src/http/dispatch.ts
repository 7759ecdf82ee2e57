// The last filter: paths of resources go to their verbs, the few other paths to their own answers.

import { readQuery } from '../api/options/query.js'
import { compareText } from '../base/text-order.js'
import { allFormats, negotiate } from '../codec/negotiation.js'
import { type AggregatedDiscovery, serveAggregated } from './aggregated-discovery.js'
import { type Document, groupDocument, groupListDocument, resourceListDocument, versionsDocument } from './discovery.js'
import type { Exchange } from './exchange.js'
import { answerAll, answerOne, type HealthChecks, type HealthPath } from './health.js'
import type { ServerMetrics } from './metrics.js'
import type { OpenApiDocuments } from './openapi/documents.js'
import { serveOpenApi } from './openapi/serve-openapi.js'
import type { Answered, Filter } from './pipeline.js'
import { representDocument } from './represent.js'
import { serveResource } from './resource-endpoint.js'
import { send, sendPlain } from './respond.js'
import { methodNotAllowed, type ResourceServer } from './target.js'

export interface Site {
  readonly resources: ResourceServer
  readonly health: HealthChecks
  readonly metrics: ServerMetrics
  readonly version: Document
  readonly openApi: OpenApiDocuments
  /** Present while its gate is on. */
  readonly aggregated: AggregatedDiscovery | undefined
  /** Host and port under which clients reach the server. */
  readonly address: () => string
}

export function dispatch(site: Site): Filter {
  return (exchange) => {
    const { info } = exchange
    if (!info.isResource) return serveOther(site, exchange)
    if (!site.resources.catalog.hasGroup(info.group)) return pageNotFound(exchange)
    return serveResource(site.resources, exchange)
  }
}

function serveOther(site: Site, exchange: Exchange): Answered | Promise<Answered> {
  const words = exchange.info.path.split('/').filter((word, i, all) => !(word === '' && (i === 0 || i === all.length - 1)))
  const [first] = words
  // Whoever asks for health is told, by whichever method.
  if (first === 'livez' || first === 'readyz' || first === 'healthz')
    return serveHealth(exchange, { path: first, checks: site.health[first], name: words.slice(1).join('/') })
  if (exchange.info.method !== 'GET' && exchange.info.method !== 'HEAD') return notGet(site, exchange, words)
  switch (first) {
    case 'metrics':
      return words.length === 1 ? serveMetrics(site, exchange) : pageNotFound(exchange)
    case 'version':
      return words.length === 1 ? serveVersion(site, exchange) : pageNotFound(exchange)
    case 'openapi':
      return serveOpenApi(site.openApi, exchange, words).then((isAnswered) => isAnswered || pageNotFound(exchange))
    case 'api':
    case 'apis':
      if (words.length === 1 && site.aggregated !== undefined && serveAggregated(site.aggregated, exchange, first)) return true
      return serveDiscovery(site, exchange, words)
    case undefined:
      return sendIndented(exchange, { paths: rootPaths(site) })
    default:
      return pageNotFound(exchange)
  }
}

/** Discovery is read only; elsewhere there is nothing. */
function notGet(site: Site, exchange: Exchange, words: readonly string[]): Answered {
  if (words.length === 1 && words[0] === 'version') throw methodNotAllowed()
  if (documentOf(site, words) === undefined) return pageNotFound(exchange)
  return plain(exchange, 405, '405 method not allowed\n')
}

function serveDiscovery(site: Site, exchange: Exchange, words: readonly string[]): Answered {
  const document = documentOf(site, words)
  if (document !== undefined) return sendDocument(site, exchange, document)
  // A version that a known group does not have is a Status; an unknown group is no place at all.
  const isKnownGroup = words[0] === 'api' ? words.length === 2 : words.length === 3 && site.resources.catalog.hasGroup(words[1] ?? '')
  if (isKnownGroup) return serveResource(site.resources, exchange) as Answered
  return pageNotFound(exchange)
}

function documentOf(site: Site, words: readonly string[]): Document | undefined {
  const { catalog } = site.resources
  if (words.length === 0) return { paths: rootPaths(site) }
  if (words[0] === 'api') {
    if (words.length === 1) return versionsDocument(catalog, site.address())
    return words.length === 2 ? resourceListDocument(catalog, { group: '', version: words[1] ?? '' }) : undefined
  }
  if (words[0] !== 'apis') return undefined
  if (words.length === 1) return groupListDocument(catalog)
  if (words.length === 2) return groupDocument(catalog, words[1] ?? '')
  return words.length === 3 && words[1] !== ''
    ? resourceListDocument(catalog, { group: words[1] ?? '', version: words[2] ?? '' })
    : undefined
}

/** Every path that is served but for the objects themselves. */
function rootPaths({ resources: { catalog }, health }: Site): readonly string[] {
  const groups = catalog.groupVersions().filter(({ group }) => group !== '')
  return [
    '/api',
    '/api/v1',
    '/apis',
    '/apis/',
    ...groups.flatMap(({ group, version }) => [`/apis/${group}`, `/apis/${group}/${version}`]),
    ...healthPaths.flatMap((path) => [`/${path}`, ...health[path].map(({ name }) => `/${path}/${name}`)]),
    '/metrics',
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/',
    '/version',
  ]
    .filter((path, i, all) => all.indexOf(path) === i)
    .sort(compareText)
}

const healthPaths = ['healthz', 'livez', 'readyz'] as const

function sendDocument(site: Site, exchange: Exchange, document: Document): Answered {
  const { identity } = site.resources.catalog
  const wish = {
    accept: exchange.request.headers.accept,
    userAgent: exchange.request.headers['user-agent'],
    query: readQuery(exchange.info.query),
  }
  const representation = negotiate(wish, { identity, formats: allFormats, transforms: false, routed: false })
  send(exchange, { code: 200, ...representDocument({ representation, identity }, document) })
  return true
}

/** The version is a document of the router and not of the API: JSON for everybody who takes it. */
function serveVersion(site: Site, exchange: Exchange): Answered {
  const { accept } = exchange.request.headers
  const wish = { accept, userAgent: undefined, query: readQuery('') }
  negotiate(wish, { identity: site.resources.catalog.identity, formats: ['json'], transforms: false, routed: true })
  return sendIndented(exchange, site.version)
}

/** Documents that people read: indented, whoever asks, and without a line break at the end. */
function sendIndented(exchange: Exchange, document: Document): Answered {
  send(exchange, { code: 200, contentType: 'application/json', body: Buffer.from(JSON.stringify(document, undefined, 2)) })
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
  const { contentType, text } = await site.metrics.text()
  send(exchange, { code: 200, contentType, body: Buffer.from(text) })
  return true
}

const pageNotFound = (exchange: Exchange): Answered => plain(exchange, 404, '404 page not found\n')

function plain(exchange: Exchange, code: number, text: string): Answered {
  sendPlain(exchange, code, text)
  return true
}
