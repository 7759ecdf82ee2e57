// The loops of the server: where it is the only one on its store they simply run; where there may be others, in one of them.

import type { Catalog } from '../api/catalog.js'
import type { Logger } from '../base/logger.js'
import { electionLease } from '../controllers/election-lease.js'
import { LeaderElection, type Loop } from '../controllers/leader-election.js'
import type { Engine } from '../verbs/engine.js'
import type { Settings } from './options/settings.js'
import { ensureReplicaName } from './replica-name.js'

export interface LoopParts {
  readonly engine: Engine
  readonly catalog: Catalog
  readonly logger: Logger
}

type LoopClass = new (parts: LoopParts) => Loop

export function runLoops({ storage, identity, dataDir }: Settings, parts: LoopParts, classes: readonly LoopClass[]): Loop {
  const start = (): readonly Loop[] => classes.map((Each) => new Each(parts))
  const keeper = storage === 'etcd' ? electionLease(parts.engine, parts.catalog, identity.prefixed('apiserver-loops')) : undefined
  if (keeper !== undefined) return new LeaderElection({ keeper, holder: ensureReplicaName(dataDir), start, logger: parts.logger })
  const loops = start()
  return {
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}
