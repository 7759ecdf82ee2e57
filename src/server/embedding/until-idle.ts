// Waits until the loops of a server have done what follows from the objects as they are.

import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Parts } from './parts.js'

/** A loop that is at work for longer waits for somebody outside, such as a webhook. */
const usualPatienceMs = 2000
/** What loops put off for so long is of the same occasion, such as the first count of a quota. */
const putOffMs = 1000
/** What was put off may put off something else; what fails again and again is not waited for. */
const mostPasses = 3

/** Whoever is not done after so many turns of the event loop waits for something, and is not watched at every turn. */
const turnsInRow = 500
const lookMs = 2

/** Whether they have. */
export async function untilIdle({ loops }: Pick<Parts, 'loops'>, patienceMs = usualPatienceMs): Promise<boolean> {
  const untilMs = performance.now() + patienceMs
  let turns = 0
  for (let pass = 0; pass < mostPasses; pass++) {
    loops.hurry(putOffMs)
    if (loops.isIdle() && pass > 0) return true
    while (!loops.isIdle() && performance.now() < untilMs) await (++turns < turnsInRow ? setImmediate() : setTimeout(lookMs))
  }
  return loops.isIdle()
}
