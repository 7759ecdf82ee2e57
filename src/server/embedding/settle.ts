// Waits until the loops of a server have done what follows from the objects as they are.

import { setImmediate } from 'node:timers/promises'
import type { Parts } from './parts.js'

/** A loop that is at work for longer waits for somebody outside, such as a webhook. */
const patienceMs = 2000
/** What loops put off for so long is of the same occasion, such as the first count of a quota. */
const putOffMs = 1000
/** What was put off may put off something else; what fails again and again is not waited for. */
const mostPasses = 3

export async function settle({ loops }: Pick<Parts, 'loops'>): Promise<void> {
  const untilMs = performance.now() + patienceMs
  for (let pass = 0; pass < mostPasses; pass++) {
    loops.hurry(putOffMs)
    if (loops.isIdle() && pass > 0) return
    while (!loops.isIdle() && performance.now() < untilMs) await setImmediate()
  }
}
