// Schedule of BOOKMARK events: one per minute, and one shortly before the watch times out, so that a client resumes from a recent version.

import type { Timers } from '@cluster-apiserver/api/base/clock.js'

const bookmarkIntervalMs = 60_000
const bookmarkBeforeEndMs = 2_000

/** Calls `send` for each bookmark. Returns the functions that cancel. */
export function scheduleBookmarks(timers: Timers, watchTimeoutMs: number, send: () => void): readonly (() => void)[] {
  const cancels = [timers.every(bookmarkIntervalMs, send)]
  if (watchTimeoutMs > bookmarkBeforeEndMs) cancels.push(timers.after(watchTimeoutMs - bookmarkBeforeEndMs, send))
  return cancels
}
