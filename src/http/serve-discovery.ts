// GET of the documents of discovery, from those of the catalog that the request began with. A document is rendered once in each form in which
// it is asked for, and is the same value until what it tells of changes.

import type { ApiServices } from '../api/api-services.js'
import type { Catalog } from '../api/catalog.js'
import { readQuery } from '../api/options/query.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
import { compareText } from '../base/text-order.js'
import { allFormats, negotiate } from '../codec/negotiation.js'
import { type Document, groupDocument, groupListDocument, resourceListDocument, versionsDocument } from './discovery.js'
import type { Exchange } from './exchange.js'
import type { HealthChecks } from './health.js'
import { type OpenIdSite, openIdPaths } from './openid.js'
import { type Represented, representDocument } from './represent.js'
import { send } from './respond.js'

/** What documents of discovery are made from. */
export interface Discoverable {
  readonly catalog: Catalog
  readonly services: ApiServices
  /** Where clients reach the server. */
  readonly address: string
}

/** The document at a path of discovery, given as its words. */
export function discoveryDocument({ catalog, services, address }: Discoverable, words: readonly string[]): Document | undefined {
  const [root, group = '', version = ''] = words
  if (root === 'api') {
    if (words.length === 1) return versionsDocument(catalog, address)
    return words.length === 2 ? resourceListDocument(catalog, { group: '', version: group }) : undefined
  }
  if (root !== 'apis') return undefined
  if (words.length === 1) return groupListDocument(catalog, services)
  if (words.length === 2) return groupDocument(catalog, services, group)
  return words.length === 3 && group !== '' ? resourceListDocument(catalog, { group, version }) : undefined
}

const renderings = onceFor((_document: Document) => new Map<string, Represented>())

export function sendDiscovery(exchange: Exchange, document: Document): void {
  const { identity } = exchange.catalog
  const wish = {
    accept: exchange.request.headers.accept,
    userAgent: exchange.request.headers['user-agent'],
    query: readQuery(exchange.info.query),
  }
  const representation = negotiate(wish, { identity, formats: allFormats, transforms: false, routed: false })
  const rendered = getOrInsert(renderings(document), `${representation.format} ${representation.pretty}`, () =>
    representDocument({ representation, identity }, document),
  )
  send(exchange, { code: 200, ...rendered })
}

const healthPaths = ['healthz', 'livez', 'readyz'] as const

interface RootSite {
  readonly health: HealthChecks
  readonly openId?: OpenIdSite | undefined
}

/** Every path that is served but for the objects themselves. */
export function rootPaths(catalog: Catalog, services: ApiServices, { health, openId }: RootSite): readonly string[] {
  const paths = new Set(['/api', '/api/v1', '/apis', '/apis/', '/metrics', '/openapi/v2', '/openapi/v3', '/openapi/v3/', '/version'])
  if (openId !== undefined) for (const path of openIdPaths) paths.add(path)
  for (const { group, version } of catalog.groupVersions()) if (group !== '') paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  for (const { group, version } of services.remotes) if (group !== '') paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  for (const path of healthPaths) {
    paths.add(`/${path}`)
    for (const { name } of health[path]) paths.add(`/${path}/${name}`)
  }
  return [...paths].sort(compareText)
}
