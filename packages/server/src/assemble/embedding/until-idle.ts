// Waits until the controllers of a server are idle.

import { setImmediate, setTimeout } from 'node:timers/promises'

export interface ControllerActivity {
  readonly isIdle: () => boolean
  /** Controllers that are not idle, with their queued and running keys. */
  readonly busy: () => readonly BusyController[]
  /** Starts work now that is delayed by at most this time. */
  readonly expedite: (withinMs: number) => void
}

interface BusyController {
  readonly name: string
  readonly keys: readonly string[]
}

/** A controller that is busy for longer waits for something external, such as a webhook. */
const defaultTimeoutMs = 2000
/** Work delayed by at most this time belongs to the same change, such as the first count of a quota. */
const expediteMs = 1000
/** Rounds of delayed work: work may add more delayed work. Work that keeps failing is not waited for. */
const maxPasses = 3

/** After this many event-loop turns, polls with a delay. */
const maxTurns = 500
const pollMs = 2

interface IdleParts {
  readonly controllers: Omit<ControllerActivity, 'busy'>
}

export async function waitUntilIdle({ controllers }: IdleParts, timeoutMs = defaultTimeoutMs): Promise<boolean> {
  const untilMs = performance.now() + timeoutMs
  let turns = 0
  for (let pass = 0; pass < maxPasses; pass++) {
    controllers.expedite(expediteMs)
    if (controllers.isIdle() && pass > 0) return true
    while (!controllers.isIdle() && performance.now() < untilMs) await (++turns < maxTurns ? setImmediate() : setTimeout(pollMs))
  }
  return controllers.isIdle()
}
