// Work at the start that needs a store which others keep: while it cannot be used, it is waited for, and the log says so.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api/api-error.js'
import type { Logger } from '../base/logger.js'
import { StorageUnavailableError } from '../storage/storage.js'

const betweenTriesMs = 1000

export interface Waiting {
  readonly logger: Logger
  readonly signal: AbortSignal | undefined
}

/** What the store says, and what requests of the server's own make of it. */
const isPassing = (thrown: unknown): thrown is Error =>
  thrown instanceof StorageUnavailableError || (thrown instanceof ApiError && thrown.status.code === 503)

/** Tries again while the store cannot be used; what else goes wrong is thrown. */
export async function whenUsable(work: () => Promise<void>, { logger, signal }: Waiting): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (!isPassing(thrown)) throw thrown
      signal?.throwIfAborted()
      logger.warn({}, `waiting for the store: ${thrown.message}`)
      await sleep(betweenTriesMs, undefined, signal ? { signal } : {})
    }
  }
}
