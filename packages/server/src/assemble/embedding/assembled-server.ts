// An assembled server, with the components that the embedding API uses.

import type { CatalogSource } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { MemorySnapshot, MemoryStorage } from '../../storage/memory/memory-storage.js'
import type { Storage } from '../../storage/storage.js'
import type { Engine } from '../../verbs/engine.js'
import type { AdminCredential } from '../admin-kubeconfig.js'
import type { RunningServer } from '../running-server.js'
import type { SharedParts } from '../start-context.js'
import type { RunningControllers } from '../start-controllers.js'

export interface EmbeddingParts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly storage: Storage
  /** The memory engine; undefined with another engine. */
  readonly memory: MemoryStorage | undefined
  readonly controllers: RunningControllers
  readonly credential: AdminCredential
  readonly caPem: string
  readonly url: string
  /** Starts the controllers of a fork before its first request. */
  readonly begin: () => void
  /** Clears state outside the store, such as event rate limits, for a reset. */
  readonly forget: () => void
  /** The parts of this server that a fork with the objects of the snapshot shares. */
  readonly share: (snapshot: MemorySnapshot) => SharedParts
}

export interface AssembledServer extends RunningServer {
  readonly parts: EmbeddingParts
}
