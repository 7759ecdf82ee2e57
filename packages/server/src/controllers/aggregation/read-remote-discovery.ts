// Reads the APIResourceList of an extension API server; unknown fields are dropped.

import type { RemoteVersion } from '@cluster-apiserver/api/api/catalog/api-services.js'
import type {
  DiscoveredResource,
  DiscoveredSubresource,
  DiscoveredVersion,
  ResponseKind,
} from '@cluster-apiserver/api/api/catalog/remote-discovery.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { isRecord } from '@cluster-apiserver/api/schema/json/read.js'

export const discoveryLimits = { bytes: 512 << 10, resources: 5000 }

export function readResourceList(remoteVersion: Pick<RemoteVersion, 'group' | 'version'>, text: string): DiscoveredVersion {
  const list: unknown = JSON.parse(text)
  if (!isRecord(list) || list['kind'] !== 'APIResourceList' || !Array.isArray(list['resources']))
    throw new Error('the response is not an APIResourceList')
  const entries = list['resources'].filter(isRecord)
  if (entries.length > discoveryLimits.resources) throw new Error(`the list has more than ${discoveryLimits.resources} resources`)
  const subresources = new Map<string, DiscoveredSubresource[]>()
  for (const entry of entries) {
    const [resource = '', subresource = ''] = textOf(entry['name']).split('/')
    if (subresource === '') continue
    const known = subresources.get(resource) ?? []
    known.push({ subresource, responseKind: kindOf(remoteVersion, entry), verbs: textsOf(entry['verbs']) })
    subresources.set(resource, known)
  }
  const resources = entries
    .filter((entry) => textOf(entry['name']) !== '' && !textOf(entry['name']).includes('/'))
    .map((entry) => discoveredResource(remoteVersion, entry, subresources.get(textOf(entry['name'])) ?? []))
    .sort((a, b) => compareText(a.resource, b.resource))
  return { version: remoteVersion.version, resources, freshness: 'Current' }
}

function discoveredResource(
  remoteVersion: Pick<RemoteVersion, 'group' | 'version'>,
  entry: Record<string, unknown>,
  subresources: readonly DiscoveredSubresource[],
): DiscoveredResource {
  const [shortNames, categories] = [textsOf(entry['shortNames']), textsOf(entry['categories'])]
  return {
    resource: textOf(entry['name']),
    responseKind: kindOf(remoteVersion, entry),
    scope: entry['namespaced'] === true ? 'Namespaced' : 'Cluster',
    singularResource: textOf(entry['singularName']),
    verbs: textsOf(entry['verbs']),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources: [...subresources].sort((a, b) => compareText(a.subresource, b.subresource)) }),
  }
}

const kindOf = (remoteVersion: Pick<RemoteVersion, 'group' | 'version'>, entry: Record<string, unknown>): ResponseKind => ({
  group: textOf(entry['group']) || remoteVersion.group,
  version: textOf(entry['version']) || remoteVersion.version,
  kind: textOf(entry['kind']),
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [])
