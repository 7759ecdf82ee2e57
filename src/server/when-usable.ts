// Work at the start that needs a store which others keep: while it cannot be used, it is waited for, and the log says so.

import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError } from '../api/api-error.js'
import type { Logger } from '../base/logger.js'

const betweenTriesMs = 1000

export interface Waiting {
  readonly logger: Logger
  readonly signal: AbortSignal | undefined
}

/** Tries again after every 503; what else goes wrong is thrown. */
export async function whenUsable(work: () => Promise<void>, { logger, signal }: Waiting): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      if (!(thrown instanceof ApiError) || thrown.status.code !== 503) throw thrown
      signal?.throwIfAborted()
      logger.warn({}, `waiting for the store: ${thrown.message}`)
      await sleep(betweenTriesMs, undefined, signal ? { signal } : {})
    }
  }
}
