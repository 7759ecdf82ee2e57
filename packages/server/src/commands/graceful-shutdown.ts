// Graceful shutdown: the first SIGTERM or SIGINT drains requests, the second closes immediately, and so does an uncaught exception.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { Logger } from '@cluster-apiserver/api/base/logger.js'
import type { RunningServer } from '../assemble/running-server.js'
import { type CommandProcess, exitCodes } from './command-process.js'

export function shutDownOnSignal(server: RunningServer, { signals, exit, printError, print }: CommandProcess): void {
  let state: 'serving' | 'closing' | 'forced' = 'serving'
  const end = (signal: string): void => {
    if (state !== 'serving') {
      state = 'forced'
      void closeImmediately(server).then(() => exit(exitCodes.failure))
      return
    }
    state = 'closing'
    print(`${signal}: shutting down gracefully; send the signal again to stop immediately\n`)
    server.close().then(
      // A forced close also resolves the graceful one.
      () => state === 'closing' && exit(exitCodes.success),
      (error: unknown) => {
        printError(`cluster-apiserver: shutdown failed: ${errorMessage(error)}\n`)
        exit(exitCodes.failure)
      },
    )
  }
  signals.on('SIGTERM', () => end('SIGTERM'))
  signals.on('SIGINT', () => end('SIGINT'))
}

const forcedCloseMs = 2_000

export async function closeImmediately(server: RunningServer): Promise<void> {
  const timeout = new Promise((resolve) => setTimeout(resolve, forcedCloseMs).unref())
  await Promise.race([server.close({ immediately: true }).catch(() => undefined), timeout])
}

const connectionErrors: ReadonlySet<string> = new Set(['EPIPE', 'ECONNRESET', 'ETIMEDOUT', 'ECONNABORTED', 'ERR_STREAM_DESTROYED'])

/** Logs unhandled rejections and errors of connections. Any other uncaught exception also ends the process. */
export function logUncaughtErrors(source: CommandProcess['signals'], logger: Logger, end: () => void): void {
  source.on('uncaughtException', (error) => {
    if (connectionErrors.has((error as NodeJS.ErrnoException)?.code ?? '')) {
      logger.warn({ error }, 'unexpected connection error')
      return
    }
    logger.error({ error }, 'uncaught exception; exiting')
    end()
  })
  source.on('unhandledRejection', (error) => logger.error({ error }, 'unhandled promise rejection'))
}
