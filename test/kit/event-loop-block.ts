// Measures the longest block of the event loop of a server.

import { until } from '../../packages/api/src/base/testing/until.fixture.js'
import { repoRoot } from './paths.js'
import type { ServerProcess } from './server-process.js'

/** Node.js flags of the server. */
export const eventLoopProbeFlags: readonly string[] = ['--import', `${repoRoot}.build/test/kit/event-loop-probe.js`]

/** Longest block since the last call. */
export async function takeLongestBlockMs(server: ServerProcess): Promise<number> {
  const printed = (): readonly string[] => server.stderr.match(/longest block [\d.]+ ms/g) ?? []
  const before = printed().length
  server.signal('SIGUSR2')
  await until(() => printed().length > before)
  return Number(printed().at(-1)?.split(' ')[2])
}

/** Minimum of several tries, because garbage collection may interfere. */
export async function longestBlockMs(server: ServerProcess, act: () => Promise<unknown>, goodMs: number, tries = 5): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries && best > goodMs; i++) {
    await takeLongestBlockMs(server)
    await act()
    best = Math.min(best, await takeLongestBlockMs(server))
  }
  return best
}
