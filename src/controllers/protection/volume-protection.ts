// A volume that is deleted stays as long as it is bound to a claim.

import { nowOrInPieces } from '../../base/pieces.js'
import { partsOf } from '../../objects/keys.js'
import { leanObject } from '../../objects/lean-object.js'
import type { PersistentVolume } from '../../resources/core/v1.schema.js'
import { KeyedLoop, type LoopParts, type Run } from '../kit/loop.js'
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
    work: async (name, run) => {
      await reconcile(parts, name, run)
      return undefined
    },
  })

async function reconcile({ engine, catalogs }: LoopParts, name: string, run: Run): Promise<void> {
  const resource = catalogs.current.find('', 'v1', 'persistentvolumes')
  if (resource === undefined) return
  const address = { resource, namespace: '', name }
  const stored = engine.store.read(address)
  if (stored === undefined) return
  const { metadata, status } = (await nowOrInPieces(leanObject(stored, resource), run.pieces)) as PersistentVolume
  const one = { address, metadata, finalizer: engine.identity.label('pv-protection') }
  if (metadata?.deletionTimestamp === undefined) await protect(engine, one)
  else if (status?.phase !== 'Bound') await release(engine, one)
}
