// Compacts history periodically, so that it reaches back one to two intervals.

import type { Timers } from '@cluster-apiserver/api/base/clock.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { Storage } from './storage.js'

interface CompactionOptions {
  readonly storage: Storage
  readonly timers: Timers
  readonly logger: Logger
  /** 0: history is kept forever. */
  readonly intervalMs: number
}

interface PeriodicCompaction {
  close(): Promise<void>
}

export function compactPeriodically({ storage, timers, logger, intervalMs }: CompactionOptions): PeriodicCompaction {
  if (intervalMs <= 0) return { close: async () => undefined }
  let revisionAtStart = storage.revision
  let compacting: Promise<void> | undefined

  const compact = (): Promise<void> => {
    if (compacting !== undefined) return compacting
    const revision = revisionAtStart
    revisionAtStart = storage.revision
    compacting = storage
      .compact(revision)
      .then(() => logger.debug({ revision }, 'history compacted'))
      .catch((error: unknown) => logger.warn({ error, revision }, 'cannot compact history; retrying after the next interval'))
      .finally(() => {
        compacting = undefined
      })
    return compacting
  }

  const cancel = timers.every(intervalMs, compact)
  return {
    async close() {
      cancel()
      await compacting
    },
  }
}
