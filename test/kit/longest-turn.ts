// How long the event loop of a server was held at a time while something was done.

import { until } from '../../src/base/until.fixture.js'
import { repoRoot } from './paths.js'
import type { ServerProcess } from './server-process.js'

/** To be started with. */
export const turnWatchFlags: readonly string[] = ['--import', `${repoRoot}.build/test/kit/turn-watch.js`]

/** The longest since it was last asked. */
export async function takeTurn(server: ServerProcess): Promise<number> {
  const said = (): readonly string[] => server.stderr.match(/longest turn [\d.]+ ms/g) ?? []
  const before = said().length
  server.signal('SIGUSR2')
  await until(() => said().length > before)
  return Number(said().at(-1)?.split(' ')[2])
}

/** The least of a few: a collection of garbage may come at any time. */
export async function longestTurnMs(server: ServerProcess, act: () => Promise<unknown>, goodMs: number, tries = 5): Promise<number> {
  let best = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries && best > goodMs; i++) {
    await takeTurn(server)
    await act()
    best = Math.min(best, await takeTurn(server))
  }
  return best
}
