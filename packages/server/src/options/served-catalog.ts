// The initial Catalog: all built-in kinds except those disabled by feature gates and --runtime-config.

import { Catalog, CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import { stabilityOf } from '@cluster-apiserver/api/api/catalog/runtime-config.js'
import { definitions } from '@cluster-apiserver/api/resources/index.js'
import { metricsDefinitions } from '@cluster-apiserver/api/resources/metrics/resource-metrics.js'
import { flagError } from './flags/flag.js'
import type { Settings } from './settings.js'

type CatalogSettings = Pick<Settings, 'identity' | 'runtimeConfig' | 'gates'> & Partial<Pick<Settings, 'simulation'>>

export function servedCatalog({ identity, runtimeConfig, gates, simulation }: CatalogSettings): CatalogSource {
  const served = simulation === undefined ? definitions : [...definitions, ...metricsDefinitions]
  const builtInVersions = served.flatMap(({ group, versions, resource }) =>
    versions.map(({ name }) => ({ group: identity.group(group), version: name, resource })),
  )
  const [unknown] = runtimeConfig.unknownKeys(builtInVersions)
  if (unknown !== undefined) throw flagError('runtime-config', `unknown API group, version or resource ${JSON.stringify(unknown)}`)
  const catalog = new Catalog({
    identity,
    definitions: served.filter(({ gate }) => gate === undefined || gates(gate)),
    isServed: (version) =>
      runtimeConfig.isEnabled({
        ...version,
        stability: stabilityOf(version.version),
        enabledByDefault: !version.version.includes('alpha'),
      }),
  })
  return new CatalogSource(catalog)
}
