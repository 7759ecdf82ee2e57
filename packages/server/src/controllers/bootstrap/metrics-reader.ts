// ClusterRole for readers of resource metrics, as metrics-server installs it: only if this server serves the metrics of simulated nodes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { ClusterRole } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import type { WantedObject } from './ensure-objects.js'

const rbac = { stem: 'rbac.authorization' }

export function metricsReader(catalog: Catalog): readonly WantedObject[] {
  const { identity } = catalog
  const group = identity.group({ stem: 'metrics' })
  if (!catalog.hasGroup(group) || catalog.isCustomGroup(group)) return []
  const labels = Object.fromEntries(['admin', 'edit', 'view'].map((role) => [`${identity.group(rbac)}/aggregate-to-${role}`, 'true']))
  const object: ClusterRole = {
    metadata: { name: 'system:aggregated-metrics-reader', labels },
    rules: [{ apiGroups: [group], resources: ['pods', 'nodes'], verbs: ['get', 'list', 'watch'] }],
  }
  return [{ group: rbac, version: 'v1', resource: 'clusterroles', shape: 'metrics-reader', object, reconcile: (stored) => stored }]
}
