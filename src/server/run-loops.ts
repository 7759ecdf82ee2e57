// The loops of the server: where it is the only one on its store they simply run; where there may be others, in one of them.

import { electionLease } from '../controllers/election-lease.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import { LeaderElection, type Loop } from '../controllers/leader-election.js'
import type { Settings } from './options/settings.js'
import { ensureReplicaName } from './replica-name.js'

type MakeLoop = (parts: LoopParts) => Loop

export function runLoops({ storage, identity, dataDir }: Settings, parts: LoopParts, makes: readonly MakeLoop[]): Loop {
  const start = (): readonly Loop[] => makes.map((make) => make(parts))
  const keeper = storage === 'etcd' ? electionLease(parts.engine, parts.catalog, identity.prefixed('apiserver-loops')) : undefined
  if (keeper !== undefined) return new LeaderElection({ keeper, holder: ensureReplicaName(dataDir), start, logger: parts.logger })
  const loops = start()
  return {
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}
