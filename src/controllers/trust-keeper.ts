// Each server sees to it that what it trusts is in the config map for extension servers, whatever becomes of that.

import { placeAll } from './bootstrap/place.js'
import { type Trusted, trustMap, trustMapName } from './bootstrap/trust-map.js'
import { KeyedLoop, type LoopParts } from './kit/loop.js'
import type { Loop } from './leader-election.js'

/** How long after somebody changed it the map is mended. */
const mendMs = 1000

/** What the server trusts, which may change while it runs. */
export interface TrustSource {
  current(): Trusted
  /** Tells of another one until the function that it returns is called. */
  onChange(listener: () => void): () => void
}

export const keepTrust = (parts: LoopParts, trusted: TrustSource): Loop => {
  const { engine, catalogs } = parts
  return new KeyedLoop(parts, {
    name: 'cluster_authentication_trust_controller',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'configmaps')
      const namespace = engine.identity.prefixed('system')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace,
          matches: ({ key }) => key.endsWith(`/${trustMapName}`),
          keyOf: (_, seen) => (seen === 'DELETED' ? trustMapName : { key: trustMapName, afterMs: mendMs }),
        },
      ]
    },
    onOutsideChange: (lookAgain) => trusted.onChange(lookAgain),
    work: async () => {
      await placeAll(engine, catalogs.current, [trustMap(engine.identity, trusted.current(), engine.clock.now())])
      return undefined
    },
  })
}
