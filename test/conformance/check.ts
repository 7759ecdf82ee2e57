// A test that replays recordings and compares what matches with the baseline.

import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { readBaseline } from './baseline.js'
import { type ReplayRequest, replay } from './replay.js'

const shown = 30

/** Whatever matched before must match still. */
export async function checkReplay(t: TestContext, request: ReplayRequest): Promise<void> {
  const { matched, compared, differences } = await replay(request)
  const known = readBaseline()[request.identity]
  t.diagnostic(`${matched.size} of ${compared.size} exchanges match, ${[...known].filter((key) => compared.has(key)).length} must`)
  const fresh = [...matched].filter((key) => !known.has(key))
  if (fresh.length > 0) {
    t.diagnostic(
      `${fresh.length} match that are not in the baseline yet (npm run conformance:baseline): ${fresh.slice(0, shown).join(' ')}${fresh.length > shown ? ' …' : ''}`,
    )
  }
  const broken = [...known].filter((key) => compared.has(key) && !matched.has(key))
  const details = broken.slice(0, 5).map((key) => `${key}: ${JSON.stringify(differences.get(key)).slice(0, 600)}`)
  assert.deepEqual(broken, [], `these matched before:\n${details.join('\n')}\n`)
  assert.ok(compared.size > 0)
}
