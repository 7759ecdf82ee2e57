// A volume that is deleted stays as long as it is bound to a claim.

import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { PersistentVolume } from '../../resources/core/v1.schema.js'
import { KeyedLoop, type LoopParts } from '../kit/loop.js'
import type { Loop } from '../leader-election.js'
import { graceMs, protect, release } from './release-finalizer.js'

export const volumeProtection = (parts: LoopParts): Loop =>
  new KeyedLoop(parts, {
    name: 'pvprotection',
    sources: (catalog) => {
      const resource = catalog.find('', 'v1', 'persistentvolumes')
      if (resource === undefined) return []
      return [
        {
          resource,
          namespace: '',
          keyOf: ({ key }, seen) => (seen === 'DELETED' ? undefined : { key: partsOf(resource, key).name, afterMs: graceMs }),
        },
      ]
    },
    work: async (name) => {
      await reconcile(parts, name)
      return undefined
    },
  })

async function reconcile({ engine, catalogs }: LoopParts, name: string): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'persistentvolumes')
  if (resource === undefined) return
  const address = { resource, namespace: '', name }
  const stored = engine.store.read(address)
  if (stored === undefined) return
  const { metadata, status } = leanObject(stored, resource) as PersistentVolume
  const one = { address, metadata, finalizer: engine.identity.label('pv-protection') }
  if (metadata?.deletionTimestamp === undefined) await protect(engine, one)
  else if (status?.phase !== 'Bound') await release(engine, one)
}
