// Waits in tests for a condition, and fails after a timeout.

import { setTimeout as sleep } from 'node:timers/promises'

const defaultTimeoutMs = 60_000

/** Counts polls instead of time, so that a suspended process does not time out. */
export async function until(condition: () => boolean, pauseMs = 5, timeoutMs = defaultTimeoutMs): Promise<void> {
  const minMs = Math.max(1, pauseMs)
  for (let polls = 0; !condition(); polls++) {
    if (polls * minMs > timeoutMs) throw new Error(`condition not met within ${timeoutMs} ms: ${condition}`)
    await sleep(pauseMs)
  }
}
