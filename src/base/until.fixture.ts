// What never comes is told, and not waited for.

import { setTimeout as sleep } from 'node:timers/promises'

const patienceMs = 60_000

/** Looks again and again whether it is so. */
export async function until(isSo: () => boolean, pauseMs = 5): Promise<void> {
  const endMs = performance.now() + patienceMs
  while (!isSo()) {
    if (performance.now() > endMs) throw new Error(`waited in vain: ${isSo}`)
    await sleep(pauseMs)
  }
}
