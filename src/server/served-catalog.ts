// The kinds that this server begins with: all that there are, but for those that gates and `--runtime-config` leave out.

import { Catalog } from '../api/catalog.js'
import { CatalogSource } from '../api/catalog-source.js'
import { stabilityOf } from '../api/runtime-config.js'
import { definitions } from '../resources/index.js'
import type { Settings } from './options/settings.js'
import { StartError } from './start-failure.js'

export function servedCatalog({ identity, runtimeConfig, gates }: Pick<Settings, 'identity' | 'runtimeConfig' | 'gates'>): CatalogSource {
  const known = definitions.flatMap(({ group, versions, resource }) =>
    versions.map(({ name }) => ({ group: identity.group(group), version: name, resource })),
  )
  const [unknown] = runtimeConfig.unknownKeys(known)
  if (unknown !== undefined) throw new StartError(`--runtime-config: there is no API group, version or resource ${JSON.stringify(unknown)}`)
  const catalog = new Catalog({
    identity,
    definitions: definitions.filter(({ gate }) => gate === undefined || gates(gate)),
    isServed: (version) =>
      runtimeConfig.isEnabled({
        ...version,
        stability: stabilityOf(version.version),
        enabledByDefault: !version.version.includes('alpha'),
      }),
  })
  return new CatalogSource(catalog)
}
