// Aggregated discovery (APIGroupDiscoveryList v2beta1): all groups in one document, behind the feature gate AggregatedDiscoveryEndpoint.

import { createHash } from 'node:crypto'
import type { ApiServices } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import {
  type DiscoveredGroup,
  type DiscoveredResource,
  type DiscoveredVersion,
  noRemoteDiscovery,
  type RemoteDiscovery,
  type ResponseKind,
} from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import type { Resource, ServedVersion } from '@cluster-apiserver/api/api/catalog/resource.js'
import type { Identity } from '@cluster-apiserver/api/api/identity.js'
import * as meta from '@cluster-apiserver/api/api/meta.schema.js'
import { getOrInsert, weakMemoize } from '@cluster-apiserver/api/base/recent-map.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { parseAccept } from '@cluster-apiserver/api/codec/accept-header.js'
import { allFormats, type Format, mediaTypeOf } from '@cluster-apiserver/api/codec/content-negotiation.js'
import { parseWrittenJson } from '@cluster-apiserver/api/codec/json/json.js'
import { encodeListItem, encodeProtobufList } from '@cluster-apiserver/api/codec/protobuf-envelope.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { writeValue } from '@cluster-apiserver/api/schema/json/write.js'
import type { StructNode } from '@cluster-apiserver/api/schema/node.js'
import type { Exchange } from '../pipeline/exchange.js'
import type { Handled } from '../pipeline/filter.js'
import { send, writeHead } from '../responses/send-response.js'
import { type DiscoverableGroup, discoverableGroups } from './discoverable-groups.js'

export interface AggregatedDiscovery {
  readonly documents: (source: DiscoverySource, root: DiscoveryRoot) => AggregatedDocument
}

interface DiscoverySource {
  readonly catalog: Catalog
  readonly services: ApiServices
  readonly remote?: RemoteDiscovery
}

interface AggregatedDocument {
  readonly tag: string
  readonly body: (format: Format) => Buffer
}

/** `/api` lists the core group, `/apis` all others. */
type DiscoveryRoot = 'api' | 'apis'

const stem = { stem: 'apidiscovery' }
const version = 'v2beta1'
const listKind = 'APIGroupDiscoveryList'

export function aggregatedDiscovery(schema: StructNode): AggregatedDiscovery {
  const encoders: GroupEncoders = {
    json: encodedOnce((group) => writeValue(schema, group)),
    protobuf: encodedOnce((group) => encodeListItem(schema, group)),
  }
  const known = weakMemoize((catalog: Catalog) =>
    weakMemoize((services: ApiServices) =>
      weakMemoize((remote: RemoteDiscovery) => ({
        api: lazily(() => documentOf({ catalog, services, remote }, 'api', encoders)),
        apis: lazily(() => documentOf({ catalog, services, remote }, 'apis', encoders)),
      })),
    ),
  )
  return { documents: ({ catalog, services, remote = noRemoteDiscovery }, root) => known(catalog)(services)(remote)[root]() }
}

function encodedOnce<T>(encode: (group: DiscoveredGroup) => T): (group: DiscoverableGroup, remote: RemoteDiscovery) => T {
  const encodedByGroup = weakMemoize((_servedGroup: object) => new Map<'encoded', T>())
  return (group, remote) => {
    const encodeGroup = (): T => encode(discoveredGroup(group, remote))
    return group.servedGroup === undefined ? encodeGroup() : getOrInsert(encodedByGroup(group.servedGroup), 'encoded', encodeGroup)
  }
}

function lazily<T>(create: () => T): () => T {
  let created: { readonly value: T } | undefined
  return () => {
    created ??= { value: create() }
    return created.value
  }
}

interface GroupEncoders {
  readonly json: (group: DiscoverableGroup, remote: RemoteDiscovery) => string
  readonly protobuf: (group: DiscoverableGroup, remote: RemoteDiscovery) => Uint8Array
}

function documentOf(
  { catalog, services, remote }: Required<DiscoverySource>,
  root: DiscoveryRoot,
  encoders: GroupEncoders,
): AggregatedDocument {
  const groups = groupsBelow({ catalog, services }, root)
  const type = { kind: listKind, apiVersion: `${catalog.identity.group(stem)}/${version}` }
  const items = groups.map((group) => encoders.json(group, remote)).join(',')
  const json = `{"kind":"${type.kind}","apiVersion":"${type.apiVersion}","metadata":${writeValue(meta.listMeta, {})},"items":[${items}]}\n`
  const bodies = new Map<Format, Buffer>([['json', Buffer.from(json)]])
  const encode = (format: Format): Buffer =>
    format === 'yaml'
      ? Buffer.from(writeYaml(parseWrittenJson(json)))
      : Buffer.concat(encodeProtobufList({ type, metadata: {}, items: groups.map((group) => encoders.protobuf(group, remote)) }))
  return {
    tag: `"${createHash('sha512').update(json).digest('hex').toUpperCase()}"`,
    body: (format) => getOrInsert(bodies, format, () => encode(format)),
  }
}

interface AggregatedRequest extends Omit<DiscoverySource, 'catalog'> {
  readonly root: DiscoveryRoot
}

/** Returns false if the client prefers the unaggregated documents. */
export function serveAggregated(discovery: AggregatedDiscovery, exchange: Exchange, request: AggregatedRequest): Handled {
  const { catalog } = exchange
  const { root, ...source } = request
  const format = aggregatedFormat(exchange.header('accept'), catalog.identity)
  if (format === undefined) return false
  const { tag, body } = discovery.documents({ catalog, ...source }, root)
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

/** Returns undefined if the first acceptable media type is not aggregated discovery. */
export function aggregatedFormat(accept: string, identity: Identity): Format | undefined {
  for (const { type, subtype, parameters } of parseAccept(accept)) {
    const format = allFormats.find((candidate) => mediaTypeOf(candidate, identity) === `${type}/${subtype}`)
    const isUnaggregated = !parameters.has('as') && !parameters.has('g') && !parameters.has('v')
    if (isUnaggregated && (format !== undefined || type === '*')) return undefined
    const isAggregated =
      parameters.get('as') === listKind && parameters.get('g') === identity.group(stem) && parameters.get('v') === version
    if (format !== undefined && isAggregated) return format
  }
  return undefined
}

export const groupsBelow = ({ catalog, services }: Omit<DiscoverySource, 'remote'>, root: DiscoveryRoot): readonly DiscoverableGroup[] =>
  [...discoverableGroups(catalog, services).values()].filter(({ name }) => (name === '') === (root === 'api'))

export const discoveredGroup = ({ name, versions }: DiscoverableGroup, remote: RemoteDiscovery): DiscoveredGroup => ({
  metadata: name === '' ? {} : { name },
  versions: versions.map(({ version: versionName, served, remote: remoteVersion }) =>
    remoteVersion === undefined ? discoveredVersion(versionName, served) : remote.of(remoteVersion),
  ),
})

const discoveredVersion = (name: string, served: ServedVersion | undefined): DiscoveredVersion => ({
  version: name,
  resources: Array.from(served?.resources.values() ?? [], discoveredResource).sort((a, b) => compareText(a.resource, b.resource)),
  freshness: 'Current',
})

function discoveredResource(resource: Resource): DiscoveredResource {
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
