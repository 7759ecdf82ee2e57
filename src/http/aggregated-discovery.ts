// All of discovery in one document, for clients that would otherwise ask once per version: an alpha form, behind its gate.

import { createHash } from 'node:crypto'
import type { Catalog, Resource } from '../api/catalog.js'
import type { SubresourceDefinition } from '../api/definition.js'
import type { Identity } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import { compareText } from '../base/text-order.js'
import { parseAccept } from '../codec/accept.js'
import { parseWrittenJson } from '../codec/json.js'
import { allFormats, type Format, mediaTypeOf } from '../codec/negotiation.js'
import { encodeListItem, encodeProtobufList } from '../codec/protobuf.js'
import { writeYaml } from '../codec/yaml/write-yaml.js'
import type { StructNode } from '../schema/node.js'
import { writeValue } from '../schema/write.js'
import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { send, writeHead } from './respond.js'

export interface AggregatedDiscovery {
  readonly catalog: Catalog
  /** The type of a group in the document. */
  readonly schema: StructNode
}

/** The core group and the others have a document each. */
export type DiscoveryRoot = 'api' | 'apis'

const stem = { stem: 'apidiscovery' }
const version = 'v2beta1'
const listKind = 'APIGroupDiscoveryList'

/** Answers if the client wants this form before any other that it names; else the usual documents are to be sent. */
export function serveAggregated(discovery: AggregatedDiscovery, exchange: Exchange, root: DiscoveryRoot): Answered {
  const { identity } = discovery.catalog
  const format = aggregatedFormat(exchange.header('accept'), identity)
  if (format === undefined) return false
  const groups = discoveredGroups(discovery.catalog, root)
  const json = jsonOf(discovery, groups)
  const tag = `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`
  const headers = { ETag: tag, Vary: 'Accept' }
  if (exchange.header('if-none-match') === tag) {
    writeHead(exchange, 304, ['Audit-Id', exchange.auditId, 'Cache-Control', 'no-cache, private', ...Object.entries(headers).flat()])
    exchange.response.end()
    return true
  }
  const body =
    format === 'protobuf' ? protobufOf(discovery, groups) : Buffer.from(format === 'yaml' ? writeYaml(parseWrittenJson(json)) : json)
  send(exchange, { code: 200, contentType: mediaTypeFor(format, identity), body, headers })
  return true
}

const mediaTypeFor = (format: Format, identity: Identity): string =>
  `${mediaTypeOf(format, identity)};g=${identity.group(stem)};v=${version};as=${listKind}`

/** The format in which this form is wanted; undefined if the first thing that can be had is something else. */
export function aggregatedFormat(accept: string, identity: Identity): Format | undefined {
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const format = allFormats.find((candidate) => mediaTypeOf(candidate, identity) === `${type}/${subtype}`)
    const isPlain = !parameters.has('as') && !parameters.has('g') && !parameters.has('v')
    if (isPlain && (format !== undefined || type === '*')) return undefined
    const isWanted = parameters.get('as') === listKind && parameters.get('g') === identity.group(stem) && parameters.get('v') === version
    if (format !== undefined && isWanted) return format
  }
  return undefined
}

const typeOf = (identity: Identity): { readonly kind: string; readonly apiVersion: string } => ({
  kind: listKind,
  apiVersion: `${identity.group(stem)}/${version}`,
})

function jsonOf({ catalog, schema }: AggregatedDiscovery, groups: readonly DiscoveredGroup[]): string {
  const { kind, apiVersion } = typeOf(catalog.identity)
  const items = groups.map((group) => writeValue(schema, group)).join(',')
  return `{"kind":"${kind}","apiVersion":"${apiVersion}","metadata":${writeValue(meta.listMeta, {})},"items":[${items}]}\n`
}

const protobufOf = ({ catalog, schema }: AggregatedDiscovery, groups: readonly DiscoveredGroup[]): Buffer =>
  Buffer.concat(
    encodeProtobufList({
      type: typeOf(catalog.identity),
      metadata: {},
      items: groups.map((group) => encodeListItem(schema, group)),
    }),
  )

export interface DiscoveredGroup {
  readonly metadata: { readonly name?: string }
  readonly versions: readonly DiscoveredVersion[]
}

export interface DiscoveredVersion {
  readonly version: string
  readonly resources: readonly DiscoveredResource[]
  readonly freshness: 'Current' | 'Stale'
}

export interface DiscoveredResource {
  readonly resource: string
  readonly responseKind: ResponseKind
  readonly scope: 'Namespaced' | 'Cluster'
  readonly singularResource: string
  readonly verbs: readonly string[]
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly subresources?: readonly DiscoveredSubresource[]
}

interface DiscoveredSubresource {
  readonly subresource: string
  readonly responseKind: ResponseKind
  readonly verbs: readonly string[]
}

export interface ResponseKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

export function discoveredGroups(catalog: Catalog, root: DiscoveryRoot): readonly DiscoveredGroup[] {
  const places = catalog.groupVersions().filter(({ group }) => (group === '') === (root === 'api'))
  return [...new Set(places.map(({ group }) => group))].map((name) => ({
    metadata: name === '' ? {} : { name },
    versions: places
      .filter(({ group }) => group === name)
      .map((place) => ({
        version: place.version,
        resources: catalog
          .all()
          .filter((resource) => resource.group === name && resource.version === place.version)
          .map((resource) => describe(resource, catalog.identity))
          .sort((a, b) => compareText(a.resource, b.resource)),
        freshness: 'Current',
      })),
  }))
}

function describe(resource: Resource, identity: Identity): DiscoveredResource {
  const { shortNames, categories, subresources = [] } = resource.definition
  return {
    resource: resource.name,
    responseKind: responseKindOf(resource, undefined, identity),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: '',
    verbs: resource.verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources
        .map((subresource) => ({
          subresource: subresource.name,
          responseKind: responseKindOf(resource, subresource, identity),
          verbs: subresource.verbs,
        }))
        .sort((a, b) => compareText(a.subresource, b.subresource)),
    }),
  }
}

/** What a resource or subresource answers with, or takes: the object, the kind of a view, or that of an action. */
export function responseKindOf(resource: Resource, subresource: SubresourceDefinition | undefined, identity: Identity): ResponseKind {
  const named = subresource?.view ?? subresource?.body
  return {
    group: named?.group === undefined ? resource.group : identity.group(named.group),
    version: named?.version ?? resource.version,
    kind: named?.kind ?? resource.kind,
  }
}
