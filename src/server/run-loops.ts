// The loops of the server: where it is the only one on its store they simply run; where there may be others, in one of them.

import { electionLease } from '../controllers/election-lease.js'
import type { LoopParts } from '../controllers/kit/loop.js'
import { LeaderElection, type Loop } from '../controllers/leader-election.js'
import type { ControllerName, Settings } from './options/settings.js'
import { ensureReplicaName } from './replica-name.js'

/** Each loop under its name: all that there are, of which the operator chooses. */
export type Loops = { readonly [Name in ControllerName]: (parts: LoopParts) => Loop }

/** Some or all run here, or in another server. */
export interface ElectedLoops extends Loop {
  readonly isLeading: boolean
  readonly isIdle: boolean
  hurry(withinMs: number): void
}

export function runLoops({ storage, identity, dataDir, controllers }: Settings, parts: LoopParts, loopsByName: Loops): ElectedLoops {
  const start = (): readonly Loop[] => controllers.map((name) => loopsByName[name](parts))
  const keeper = storage === 'etcd' ? electionLease(parts.engine, parts.catalogs.current, identity.prefixed('apiserver-loops')) : undefined
  if (keeper !== undefined) return new LeaderElection({ keeper, holder: ensureReplicaName(dataDir), start, logger: parts.logger })
  const loops = start()
  return {
    isLeading: true,
    get isIdle() {
      return loops.every(({ isIdle = true }) => isIdle)
    },
    hurry: (withinMs) => {
      for (const loop of loops) loop.hurry?.(withinMs)
    },
    close: async () => {
      await Promise.all(loops.map((loop) => loop.close()))
    },
  }
}
