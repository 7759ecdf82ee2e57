// Graceful shutdown of an assembled server: readiness fails, --shutdown-delay-duration passes, requests end, everything closes.

import { setTimeout } from 'node:timers/promises'
import { timerMs } from '@cluster-apiserver/api/base/clock.js'
import type { RunningServer } from './running-server.js'
import type { StartContext } from './start-context.js'

/** `failReadiness` runs first. `immediately` skips the delay, and `cutRequests` then ends open requests. */
export function gracefulClose(
  { settings, cleanup }: StartContext,
  { failReadiness, cutRequests }: { readonly failReadiness: () => void; readonly cutRequests: () => void },
): RunningServer['close'] {
  const { shutdownDelayMs } = settings.timeouts
  const forced = new AbortController()
  return async ({ immediately = false } = {}) => {
    failReadiness()
    if (immediately) {
      forced.abort()
      cutRequests()
    } else if (shutdownDelayMs > 0) await delay(shutdownDelayMs, forced.signal)
    await cleanup.close()
  }
}

/** Resolves early when the signal aborts. */
const delay = (ms: number, signal: AbortSignal): Promise<void> =>
  setTimeout(timerMs(ms), undefined, { signal }).catch((thrown: unknown) => {
    if (!signal.aborted) throw thrown
  })
