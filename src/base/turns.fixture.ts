// How long the event loop of this process is held at a time, in processor time of its thread: what others do on the machine does not count.

import { threadMs } from './thread-time.fixture.js'

export interface Turns {
  readonly longestMs: number
  /** Of all turns together. */
  readonly totalMs: number
}

export async function turnsOf(work: () => Promise<unknown>): Promise<Turns> {
  const begun = threadMs()
  let longestMs = 0
  let [last, lastWallMs] = [begun, performance.now()]
  let isDone = false
  const look = (): void => {
    const [now, wallMs] = [threadMs(), performance.now()]
    // A turn was no longer than either clock says.
    longestMs = Math.max(longestMs, Math.min(now - last, wallMs - lastWallMs))
    last = now
    lastWallMs = wallMs
    if (!isDone) setImmediate(look)
  }
  setImmediate(look)
  try {
    await work()
  } finally {
    isDone = true
    look()
  }
  return { longestMs, totalMs: last - begun }
}
