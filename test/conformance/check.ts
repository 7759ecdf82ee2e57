// A test that replays recordings and compares what matches with the baseline.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { sleep } from '../kit/fixtures.js'
import { readBaseline } from './baseline.js'
import { type Replay, type ReplayRequest, replay } from './replay.js'

const shown = 30
/** The recordings wait for seconds here and there, and open ports that somebody else may have just now. */
const tries = 4
const repeats = 2
const pauseMs = 3_000

/** Whatever matched before must match still. */
export async function checkReplay(t: TestContext, request: ReplayRequest): Promise<void> {
  const known = readBaseline()[request.identity]
  const { matched, compared } = await replayPatiently(t, request)
  t.diagnostic(`${matched.size} of ${compared.size} exchanges match, ${[...known].filter((key) => compared.has(key)).length} must`)
  const fresh = [...matched].filter((key) => !known.has(key))
  if (fresh.length > 0) {
    t.diagnostic(
      `${fresh.length} match that are not in the baseline yet (npm run conformance:baseline): ${fresh.slice(0, shown).join(' ')}${fresh.length > shown ? ' …' : ''}`,
    )
  }
  assert.ok(compared.size > 0)
  let broken = brokenIn({ matched, compared }, known)
  let details = ''
  // What differs on a busy machine matches when its file is replayed once more; what is broken stays so.
  for (let i = 1; i <= repeats && broken.length > 0; i++) {
    const again = await replayPatiently(t, filesOf(request, broken))
    const still = brokenIn(again, known)
    t.diagnostic(`replayed again for ${broken.slice(0, shown).join(' ')}: ${still.length} still differ`)
    details = still
      .slice(0, 5)
      .map((key) => `${key}: ${JSON.stringify(again.differences.get(key)).slice(0, 600)}\n`)
      .join('')
    broken = still.filter((key) => broken.includes(key))
  }
  assert.deepEqual(broken, [], `these matched before:\n${details}`)
}

const brokenIn = ({ matched, compared }: Pick<Replay, 'matched' | 'compared'>, known: ReadonlySet<string>): readonly string[] =>
  [...known].filter((key) => compared.has(key) && !matched.has(key))

/** The same, for the files alone that these exchanges are of. */
function filesOf(request: ReplayRequest, keys: readonly string[]): ReplayRequest {
  const parts = keys.map((key) => key.split('/'))
  const files = new Set(parts.map(([, file]) => file))
  return { ...request, profiles: [...new Set(parts.map(([profile]) => profile ?? ''))], filter: `^(?:${[...files].join('|')})[.]mjs$` }
}

async function replayPatiently(t: TestContext, request: ReplayRequest): Promise<Replay> {
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
