// GET of /api, /apis and below: discovery documents, encoded once per catalog and format.

import type { ApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { readQuery } from '@cluster-apiserver/api/api/options/query.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { allFormats, negotiate } from '@cluster-apiserver/api/codec/content-negotiation.js'
import type { HealthChecks } from '../diagnostics/health-checks.js'
import type { Exchange } from '../pipeline/exchange.js'
import { type Represented, representDocument } from '../responses/representation.js'
import { send } from '../responses/send-response.js'
import { type Document, groupDocument, groupListDocument, resourceListDocument, versionsDocument } from './discovery-documents.js'
import { type OpenIdConfig, openIdPaths } from './openid-discovery.js'

export interface Discoverable {
  readonly catalog: Catalog
  readonly services: ApiServices
  readonly address: string
}

export function discoveryDocument({ catalog, services, address }: Discoverable, segments: readonly string[]): Document | undefined {
  const [root, group = '', version = ''] = segments
  if (root === 'api') {
    if (segments.length === 1) return versionsDocument(catalog, address)
    return segments.length === 2 ? resourceListDocument(catalog, { group: '', version: group }) : undefined
  }
  if (root !== 'apis') return undefined
  if (segments.length === 1) return groupListDocument(catalog, services)
  if (segments.length === 2) return groupDocument(catalog, services, group)
  return segments.length === 3 && group !== '' ? resourceListDocument(catalog, { group, version }) : undefined
}

const encodings = weakMemoize((_document: Document) => new Map<string, Represented>())

export function sendDiscovery(exchange: Exchange, document: Document): void {
  const { identity } = exchange.catalog
  const preferences = {
    accept: exchange.request.headers.accept,
    userAgent: exchange.request.headers['user-agent'],
    query: readQuery(exchange.info.query),
  }
  const representation = negotiate(preferences, { identity, formats: allFormats, transforms: false, routed: false })
  const encoded = getOrInsert(encodings(document), `${representation.format} ${representation.pretty}`, () =>
    representDocument({ representation, identity }, document),
  )
  send(exchange, { code: 200, ...encoded })
}

const healthPaths = ['healthz', 'livez', 'readyz'] as const

interface RootEndpoints {
  readonly health: HealthChecks
  readonly openId?: OpenIdConfig | undefined
  readonly hasOpenApiV3: boolean
}

/** The paths that `/` lists. */
export function rootPaths(catalog: Catalog, services: ApiServices, { health, openId, hasOpenApiV3 }: RootEndpoints): readonly string[] {
  const paths = new Set(['/api', '/api/v1', '/apis', '/apis/', '/metrics', '/openapi/v2', '/version'])
  if (hasOpenApiV3) paths.add('/openapi/v3').add('/openapi/v3/')
  if (openId !== undefined) for (const path of openIdPaths) paths.add(path)
  for (const { group, version } of catalog.groupVersions()) if (group !== '') paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  for (const { group, version } of services.remotes) if (group !== '') paths.add(`/apis/${group}`).add(`/apis/${group}/${version}`)
  for (const path of healthPaths) {
    paths.add(`/${path}`)
    for (const { name } of health[path]) paths.add(`/${path}/${name}`)
  }
  return [...paths].sort(compareText)
}
