// All of discovery in one document, for clients that would otherwise ask once per version: an alpha form, behind its gate.

import { createHash } from 'node:crypto'
import type { ApiServices } from '../api/api-services.js'
import type { Catalog, Resource, ServedVersion } from '../api/catalog.js'
import {
  type DiscoveredGroup,
  type DiscoveredResource,
  type DiscoveredVersion,
  nothingDiscovered,
  type RemoteDiscovery,
  type ResponseKind,
} from '../api/discovered.js'
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
import { type DiscoverableGroup, discoverableGroups } from './discoverable-groups.js'
import type { Exchange } from './exchange.js'
import type { Answered } from './pipeline.js'
import { send, writeHead } from './respond.js'

/** All of discovery, in the types of the document. Of a catalog that has changed only the groups that did are rendered again. */
export interface AggregatedDiscovery {
  readonly documents: (about: Discovered, root: DiscoveryRoot) => AggregatedDocument
}

/** What the document tells of, at one moment. */
export interface Discovered {
  readonly catalog: Catalog
  readonly services: ApiServices
  /** Left out: nothing was heard of other servers. */
  readonly remote?: RemoteDiscovery
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
    json: renderedOnce((group) => writeValue(schema, group)),
    protobuf: renderedOnce((group) => encodeListItem(schema, group)),
  }
  const known = onceFor((catalog: Catalog) =>
    onceFor((services: ApiServices) =>
      onceFor((remote: RemoteDiscovery) => ({
        api: onDemand(() => documentOf({ catalog, services, remote }, 'api', forms)),
        apis: onDemand(() => documentOf({ catalog, services, remote }, 'apis', forms)),
      })),
    ),
  )
  return { documents: ({ catalog, services, remote = nothingDiscovered }, root) => known(catalog)(services)(remote)[root]() }
}

/** A group that is all this server's own is rendered once for as long as it is the same. */
function renderedOnce<T>(render: (group: DiscoveredGroup) => T): (group: DiscoverableGroup, remote: RemoteDiscovery) => T {
  const ofWhole = onceFor((_whole: object) => new Map<'made', T>())
  return (group, remote) => {
    const make = (): T => render(discoveredGroup(group, remote))
    return group.whole === undefined ? make() : getOrInsert(ofWhole(group.whole), 'made', make)
  }
}

function onDemand<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

interface GroupForms {
  readonly json: (group: DiscoverableGroup, remote: RemoteDiscovery) => string
  readonly protobuf: (group: DiscoverableGroup, remote: RemoteDiscovery) => Uint8Array
}

function documentOf({ catalog, services, remote }: Required<Discovered>, root: DiscoveryRoot, forms: GroupForms): AggregatedDocument {
  const groups = groupsBelow({ catalog, services }, root)
  const type = { kind: listKind, apiVersion: `${catalog.identity.group(stem)}/${version}` }
  const items = groups.map((group) => forms.json(group, remote)).join(',')
  const json = `{"kind":"${type.kind}","apiVersion":"${type.apiVersion}","metadata":${writeValue(meta.listMeta, {})},"items":[${items}]}\n`
  const bodies = new Map<Format, Buffer>([['json', Buffer.from(json)]])
  const render = (format: Format): Buffer =>
    format === 'yaml'
      ? Buffer.from(writeYaml(parseWrittenJson(json)))
      : Buffer.concat(encodeProtobufList({ type, metadata: {}, items: groups.map((group) => forms.protobuf(group, remote)) }))
  return {
    tag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`,
    body: (format) => getOrInsert(bodies, format, () => render(format)),
  }
}

/** Which document, and what it tells of besides the catalog of the request. */
export interface Asked extends Omit<Discovered, 'catalog'> {
  readonly root: DiscoveryRoot
}

/** Answers if the client wants this form before any other that it names; else the usual documents are to be sent. */
export function serveAggregated(discovery: AggregatedDiscovery, exchange: Exchange, asked: Asked): Answered {
  const { catalog } = exchange
  const { root, ...about } = asked
  const format = aggregatedFormat(exchange.header('accept'), catalog.identity)
  if (format === undefined) return false
  const { tag, body } = discovery.documents({ catalog, ...about }, root)
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

export const groupsBelow = ({ catalog, services }: Omit<Discovered, 'remote'>, root: DiscoveryRoot): readonly DiscoverableGroup[] =>
  [...discoverableGroups(catalog, services).values()].filter(({ name }) => (name === '') === (root === 'api'))

export const discoveredGroup = ({ name, versions }: DiscoverableGroup, remote: RemoteDiscovery): DiscoveredGroup => ({
  metadata: name === '' ? {} : { name },
  versions: versions.map(({ version: listed, served, remote: other }) =>
    other === undefined ? discoveredVersion(listed, served) : remote.of(other),
  ),
})

const discoveredVersion = (listed: string, served: ServedVersion | undefined): DiscoveredVersion => ({
  version: listed,
  resources: Array.from(served?.resources.values() ?? [], describe).sort((a, b) => compareText(a.resource, b.resource)),
  freshness: 'Current',
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
