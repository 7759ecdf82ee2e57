// What the embedding API needs of an assembled server besides what everybody sees.

import type { CatalogSource } from '../../api/catalog-source.js'
import type { Logger } from '../../base/logger.js'
import type { Storage } from '../../storage/storage.js'
import type { Engine } from '../../verbs/engine.js'
import type { AdminCredential } from '../client-configuration.js'
import type { Settings } from '../options/settings.js'
import type { RunningServer } from '../running-server.js'
import type { RunningLoops } from '../start-loops.js'

export interface Parts {
  readonly engine: Engine
  readonly catalogs: CatalogSource
  readonly storage: Storage
  readonly loops: RunningLoops
  readonly credential: AdminCredential
  readonly caPem: string
  readonly url: string
  /** Drops what is remembered beside the store of what clients and loops did. */
  readonly forget: () => void
}

/** A server with what it is made of. */
export interface AssembledServer extends RunningServer {
  readonly parts: Parts
}

/** `signal` ends a start that waits for something else to come up. */
export type Assemble = (settings: Settings, logger: Logger, signal?: AbortSignal) => Promise<RunningServer>
