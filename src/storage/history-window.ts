// Decides how long history is kept: every interval, what is older than the interval before is forgotten.
//
// So there is always between one and two intervals of history, for watches that resume, exact lists and continue tokens. After a restart the
// first interval begins anew: what was there at the start is kept for one interval more.

import type { Clock } from '../base/clock.js'
import type { Logger } from '../base/logger.js'
import type { Storage } from './storage.js'

export interface HistoryWindowOptions {
  readonly storage: Storage
  readonly clock: Clock
  readonly logger: Logger
  /** 0: history is kept forever. */
  readonly intervalMs: number
}

export interface HistoryWindow {
  /** Resolves when a compaction under way has ended. */
  close(): Promise<void>
}

/** How often the clock is looked at: it may be moved, and the machine may have slept. */
const mostLookMs = 1000

export function keepHistory({ storage, clock, logger, intervalMs }: HistoryWindowOptions): HistoryWindow {
  if (intervalMs <= 0) return { close: async () => undefined }
  let mark = { revision: storage.revision, timeMs: clock.now() }
  let compacting: Promise<void> | undefined

  const look = (): void => {
    if (compacting || clock.now() - mark.timeMs < intervalMs) return
    const { revision } = mark
    mark = { revision: storage.revision, timeMs: clock.now() }
    compacting = storage
      .compact(revision)
      .then(() => logger.debug({ revision }, 'history compacted'))
      .catch((error: unknown) => logger.warn({ error, revision }, 'cannot compact history; retrying after the next interval'))
      .finally(() => {
        compacting = undefined
      })
  }

  const timer = setInterval(look, Math.min(intervalMs, mostLookMs)).unref()
  return {
    async close() {
      clearInterval(timer)
      await compacting
    },
  }
}
