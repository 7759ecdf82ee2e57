// How a request is counted: by words from the catalog only, so that clients cannot make the metrics grow.

import type { Exchange } from './exchange.js'
import type { RequestLabels } from './metrics.js'

const knownMethods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export function requestLabels(exchange: Exchange): RequestLabels {
  const { info, catalog } = exchange
  const code = String(exchange.response.statusCode)
  const resource = info.isResource ? catalog.find(info.group, info.version, info.resource) : undefined
  const verb = knownMethods.has(info.method) ? info.method : 'other'
  if (resource === undefined) return { verb, group: '', version: '', resource: '', subresource: '', scope: '', code }
  return {
    verb: info.verb === 'list' || info.verb === 'watch' ? info.verb.toUpperCase() : verb,
    group: resource.group,
    version: resource.version,
    resource: resource.name,
    subresource: resource.subresources.has(info.subresource) ? info.subresource : '',
    scope: info.name !== '' ? 'resource' : info.namespace !== '' ? 'namespace' : 'cluster',
    code,
  }
}
