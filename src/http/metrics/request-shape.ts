// What a request is counted as: by words from the catalog only, so that neither users nor names nor namespaces can make the metrics grow.

import type { Resource } from '../../api/catalog.js'
import { scanQuery } from '../../api/options/query.js'
import type { Exchange } from '../exchange.js'

/** The labels that all metrics of requests share, in their order. */
export const shapeLabels = ['component', 'group', 'resource', 'scope', 'subresource', 'verb', 'version'] as const

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'])
const applyMediaType = 'application/apply-patch+yaml'

export const resourceOf = ({ info, catalog }: Exchange): Resource | undefined =>
  info.isResource ? catalog.find(info.group, info.version, info.resource) : undefined

/** Upper case, as in the reference; `other` for what is no method of this API. */
export function verbOf({ info, request }: Exchange, resource: Resource): string {
  switch (info.verb) {
    case 'list':
      return 'LIST'
    case 'watch':
      return 'WATCH'
    case 'deletecollection':
      return 'DELETECOLLECTION'
    case 'patch':
      return request.headers['content-type']?.startsWith(applyMediaType) === true ? 'APPLY' : 'PATCH'
    default:
      if (info.subresource !== '' && resource.subresources.get(info.subresource)?.connection !== undefined) return 'CONNECT'
      return methodOf(info.method)
  }
}

export const methodOf = (method: string): string => (knownMethods.has(method) ? method : 'other')

/** What a path asks for: one object, those of a namespace, or all. */
export function scopeOf({ info }: Exchange): 'resource' | 'namespace' | 'cluster' {
  if (info.name !== '' || info.verb === 'create') return 'resource'
  return info.namespace !== '' ? 'namespace' : 'cluster'
}

export const subresourceOf = ({ info }: Exchange, resource: Resource): string =>
  info.subresource !== '' && resource.subresources.has(info.subresource) ? info.subresource : ''

const knownPaths = new Set(['healthz', 'livez', 'readyz', 'metrics', 'version', 'openapi', 'api', 'apis'])

/** Of a path that is no resource: its first word, if something is served there. */
export function pathOf({ info }: Exchange): string {
  const end = info.path.indexOf('/', 1)
  const first = info.path.slice(1, end < 0 ? undefined : end)
  return knownPaths.has(first) ? `/${first}` : ''
}

/** Empty for what was meant. */
export function dryRunOf({ info: { query } }: Exchange): string {
  if (query === '' || !query.includes('dryRun')) return ''
  const said = scanQuery(query).all('dryRun')
  if (said.length === 0) return ''
  return said.every((value) => value === 'All') ? 'All' : 'invalid'
}
