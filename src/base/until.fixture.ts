// What never comes is told, and not waited for.

import { setTimeout as sleep } from 'node:timers/promises'

const usualPatienceMs = 60_000

/** Looks again and again whether it is so. Looks count, and not the clock: whoever was stopped meanwhile, or had no processor, has not waited. */
export async function until(isSo: () => boolean, pauseMs = 5, patienceMs = usualPatienceMs): Promise<void> {
  // No pause of the platform is shorter than a millisecond.
  const leastMs = Math.max(1, pauseMs)
  for (let looks = 0; !isSo(); looks++) {
    if (looks * leastMs > patienceMs) throw new Error(`waited in vain: ${isSo}`)
    await sleep(pauseMs)
  }
}
