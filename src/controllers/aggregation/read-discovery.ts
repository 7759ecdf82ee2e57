// The list of resources that a server behind an API service gives, in the words of our own discovery. Whatever it says, nothing else is taken
// from it.

import type { RemoteVersion } from '../../api/api-services.js'
import type { DiscoveredResource, DiscoveredSubresource, DiscoveredVersion, ResponseKind } from '../../api/discovered.js'
import { compareText } from '../../base/text-order.js'
import { isRecord } from '../../schema/read.js'

export const discoveryLimits = { bytes: 512 << 10, resources: 5000 }

/** Throws one sentence for what is no such list. */
export function readResourceList(of: Pick<RemoteVersion, 'group' | 'version'>, text: string): DiscoveredVersion {
  const list: unknown = JSON.parse(text)
  if (!isRecord(list) || list['kind'] !== 'APIResourceList' || !Array.isArray(list['resources']))
    throw new Error('the answer is no list of resources')
  const lines = list['resources'].filter(isRecord)
  if (lines.length > discoveryLimits.resources) throw new Error(`the list has more than ${discoveryLimits.resources} resources`)
  const subresources = new Map<string, DiscoveredSubresource[]>()
  for (const line of lines) {
    const [resource = '', subresource = ''] = textOf(line['name']).split('/')
    if (subresource === '') continue
    const known = subresources.get(resource) ?? []
    known.push({ subresource, responseKind: kindOf(of, line), verbs: textsOf(line['verbs']) })
    subresources.set(resource, known)
  }
  const resources = lines
    .filter((line) => textOf(line['name']) !== '' && !textOf(line['name']).includes('/'))
    .map((line) => describe(of, line, subresources.get(textOf(line['name'])) ?? []))
    .sort((a, b) => compareText(a.resource, b.resource))
  return { version: of.version, resources, freshness: 'Current' }
}

function describe(
  of: Pick<RemoteVersion, 'group' | 'version'>,
  line: Record<string, unknown>,
  subresources: readonly DiscoveredSubresource[],
): DiscoveredResource {
  const [shortNames, categories] = [textsOf(line['shortNames']), textsOf(line['categories'])]
  return {
    resource: textOf(line['name']),
    responseKind: kindOf(of, line),
    scope: line['namespaced'] === true ? 'Namespaced' : 'Cluster',
    singularResource: textOf(line['singularName']),
    verbs: textsOf(line['verbs']),
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && { subresources: [...subresources].sort((a, b) => compareText(a.subresource, b.subresource)) }),
  }
}

const kindOf = (of: Pick<RemoteVersion, 'group' | 'version'>, line: Record<string, unknown>): ResponseKind => ({
  group: textOf(line['group']) || of.group,
  version: textOf(line['version']) || of.version,
  kind: textOf(line['kind']),
})

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

const textsOf = (value: unknown): readonly string[] => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [])
