// All of discovery in one document, for clients that would otherwise ask once per version: an alpha form, behind its gate.

import { createHash } from 'node:crypto'
import type { Catalog, Resource, ServedGroup } from '../api/catalog.js'
import type { Identity } from '../api/identity.js'
import * as meta from '../api/meta.schema.js'
import { getOrInsert } from '../base/get-or-insert.js'
import { onceFor } from '../base/once-for.js'
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

/** All of discovery, in the types of the document. Of a catalog that has changed only the groups that did are rendered again. */
export interface AggregatedDiscovery {
  readonly documents: (catalog: Catalog, root: DiscoveryRoot) => AggregatedDocument
}

interface AggregatedDocument {
  readonly tag: string
  readonly body: (format: Format) => Buffer
}

/** The core group and the others have a document each. */
export type DiscoveryRoot = 'api' | 'apis'

const stem = { stem: 'apidiscovery' }
const version = 'v2beta1'
const listKind = 'APIGroupDiscoveryList'

/** `schema` is the type of a group in the document. */
export function aggregatedDiscovery(schema: StructNode): AggregatedDiscovery {
  const forms: GroupForms = {
    json: onceFor((group) => writeValue(schema, discoveredGroup(group))),
    protobuf: onceFor((group) => encodeListItem(schema, discoveredGroup(group))),
  }
  const known = {
    api: onceFor((catalog: Catalog) => documentOf(catalog, 'api', forms)),
    apis: onceFor((catalog: Catalog) => documentOf(catalog, 'apis', forms)),
  }
  return { documents: (catalog, root) => known[root](catalog) }
}

interface GroupForms {
  readonly json: (group: ServedGroup) => string
  readonly protobuf: (group: ServedGroup) => Uint8Array
}

function documentOf(catalog: Catalog, root: DiscoveryRoot, forms: GroupForms): AggregatedDocument {
  const groups = groupsBelow(catalog, root)
  const type = { kind: listKind, apiVersion: `${catalog.identity.group(stem)}/${version}` }
  const items = groups.map(forms.json).join(',')
  const json = `{"kind":"${type.kind}","apiVersion":"${type.apiVersion}","metadata":${writeValue(meta.listMeta, {})},"items":[${items}]}\n`
  const bodies = new Map<Format, Buffer>([['json', Buffer.from(json)]])
  const render = (format: Format): Buffer =>
    format === 'yaml'
      ? Buffer.from(writeYaml(parseWrittenJson(json)))
      : Buffer.concat(encodeProtobufList({ type, metadata: {}, items: groups.map(forms.protobuf) }))
  return {
    tag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`,
    body: (format) => getOrInsert(bodies, format, () => render(format)),
  }
}

/** Answers if the client wants this form before any other that it names; else the usual documents are to be sent. */
export function serveAggregated(discovery: AggregatedDiscovery, exchange: Exchange, root: DiscoveryRoot): Answered {
  const { catalog } = exchange
  const format = aggregatedFormat(exchange.header('accept'), catalog.identity)
  if (format === undefined) return false
  const { tag, body } = discovery.documents(catalog, root)
  const headers = { ETag: tag, Vary: 'Accept' }
  if (exchange.header('if-none-match') === tag) {
    writeHead(exchange, 304, ['Audit-Id', exchange.auditId, 'Cache-Control', 'no-cache, private', ...Object.entries(headers).flat()])
    exchange.response.end()
    return true
  }
  send(exchange, { code: 200, contentType: mediaTypeFor(format, catalog.identity), body: body(format), headers })
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

export const groupsBelow = (catalog: Catalog, root: DiscoveryRoot): readonly ServedGroup[] =>
  [...catalog.groups().values()].filter(({ name }) => (name === '') === (root === 'api'))

export const discoveredGroup = ({ name, versions }: ServedGroup): DiscoveredGroup => ({
  metadata: name === '' ? {} : { name },
  versions: Array.from(versions.values(), ({ version: served, resources }) => ({
    version: served,
    resources: Array.from(resources.values(), describe).sort((a, b) => compareText(a.resource, b.resource)),
    freshness: 'Current',
  })),
})

function describe(resource: Resource): DiscoveredResource {
  const { shortNames, categories } = resource.definition
  const subresources = [...resource.subresources.values()]
  return {
    resource: resource.name,
    responseKind: responseKindOf(resource),
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: '',
    verbs: resource.verbs,
    ...(shortNames && { shortNames }),
    ...(categories && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources
        .map(({ name, type, verbs }) => ({ subresource: name, responseKind: responseKindOf(type), verbs }))
        .sort((a, b) => compareText(a.subresource, b.subresource)),
    }),
  }
}

const responseKindOf = ({ group, version: served, kind }: ResponseKind): ResponseKind => ({ group, version: served, kind })
