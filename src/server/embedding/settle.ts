// Waits until the loops of a server have done what follows from the objects as they are.

import { setImmediate } from 'node:timers/promises'
import type { Parts } from './parts.js'

/** A loop that is at work for longer waits for somebody outside, such as a webhook. */
const patienceMs = 2000

export async function settle({ loops }: Pick<Parts, 'loops'>): Promise<void> {
  const untilMs = performance.now() + patienceMs
  while (!loops.isIdle() && performance.now() < untilMs) await setImmediate()
}
