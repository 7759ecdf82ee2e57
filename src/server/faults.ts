// What happens to an error that nobody caught.
//
// An exception that left a callback half done makes the state of this process doubtful: it is logged and the process ends with 1; what was
// acknowledged is on disk, and a supervisor starts it again. A broken connection is not doubtful, and neither is a promise that was rejected
// with nobody waiting: its work had already stopped in order. Both are logged, and the server goes on.

import type { Logger } from '../base/logger.js'

/** The part of `process` that is needed here. */
export interface FaultSource {
  on(event: 'uncaughtException' | 'unhandledRejection', listener: (error: unknown) => void): unknown
}

const connectionProblems: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ETIMEDOUT', 'ECONNABORTED', 'ERR_STREAM_DESTROYED'])

export function watchFaults(source: FaultSource, logger: Logger, end: () => void): void {
  source.on('uncaughtException', (error) => {
    if (connectionProblems.has((error as NodeJS.ErrnoException)?.code ?? '')) {
      logger.warn({ error }, 'unexpected connection error')
      return
    }
    logger.error({ error }, 'uncaught exception; exiting')
    end()
  })
  source.on('unhandledRejection', (error) => logger.error({ error }, 'unhandled promise rejection'))
}
