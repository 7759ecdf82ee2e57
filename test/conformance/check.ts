// Test that replays recordings and compares the matches with the baseline.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sleep } from '../kit/fixtures.js'
import { readBaseline } from './baseline.js'
import { type Replay, type ReplayRequest, replay } from './replay.js'

const maxShown = 30
/** Number of tries if a replay throws: recordings use fixed ports, which may be taken. */
const tries = 4
const repeats = 2
const pauseMs = 3_000

/** Every replayed exchange of the baseline must match in one of the replays. */
export async function checkReplay(t: TestContext, request: ReplayRequest): Promise<void> {
  const known = readBaseline()[request.identity]
  const { matched, compared } = await replayWithRetries(t, request)
  t.diagnostic(`${matched.size} of ${compared.size} exchanges match, ${[...known].filter((key) => compared.has(key)).length} must`)
  const newMatches = [...matched].filter((key) => !known.has(key))
  if (newMatches.length > 0) {
    t.diagnostic(
      `${newMatches.length} match that are not in the baseline yet (npm run conformance:baseline): ${newMatches.slice(0, maxShown).join(' ')}${newMatches.length > maxShown ? ' …' : ''}`,
    )
  }
  assert.ok(compared.size > 0)
  let broken = brokenIn({ matched, compared }, known)
  let details = ''
  // Files with differences are replayed up to twice more, because a busy machine causes some differences.
  for (let i = 1; i <= repeats && broken.length > 0; i++) {
    const again = await replayWithRetries(t, filesOf(request, broken))
    const stillBroken = brokenIn(again, known)
    t.diagnostic(`replayed again for ${broken.slice(0, maxShown).join(' ')}: ${stillBroken.length} still differ`)
    details = stillBroken
      .slice(0, 5)
      .map((key) => `${key}: ${JSON.stringify(again.differences.get(key)).slice(0, 600)}\n`)
      .join('')
    broken = stillBroken.filter((key) => broken.includes(key))
  }
  assert.deepEqual(broken, [], `these matched before:\n${details}`)
}

const brokenIn = ({ matched, compared }: Pick<Replay, 'matched' | 'compared'>, known: ReadonlySet<string>): readonly string[] =>
  [...known].filter((key) => compared.has(key) && !matched.has(key))

/** Replays only the files of these exchanges. */
function filesOf(request: ReplayRequest, keys: readonly string[]): ReplayRequest {
  const parts = keys.map((key) => key.split('/'))
  const files = new Set(parts.map(([, file]) => file))
  return { ...request, profiles: [...new Set(parts.map(([profile]) => profile ?? ''))], filter: `^(?:${[...files].join('|')})[.]mjs$` }
}

async function replayWithRetries(t: TestContext, request: ReplayRequest): Promise<Replay> {
  for (let i = 1; ; i++) {
    try {
      return await replay(request)
    } catch (error) {
      if (i === tries) throw error
      t.diagnostic(`could not be replayed: ${String(error).slice(-300)}`)
      await sleep(pauseMs * i)
    }
  }
}
