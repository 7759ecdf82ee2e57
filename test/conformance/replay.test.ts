// The recordings of the reference, replayed: whatever matched before must match still. CONFORMANCE=all replays every file of every profile.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readBaseline } from './baseline.js'
import { findRecordings, identities, replay } from './replay.js'

const root = findRecordings()
const baseline = readBaseline()
const isThorough = process.env['CONFORMANCE'] === 'all'
// Of admission, what is answered today: other files wait for minutes for plugins, webhooks and policies that nobody runs yet.
const admission = 'admission-(?!certificates|limit-ranger|pod-security|policy|resource-quota|webhook)'
const scope = isThorough ? {} : { profiles: ['default', 'compaction'], filter: `^(${admission}|(objects|reading|writing|extension-kind)-)` }
const shown = 30

for (const identity of identities) {
  test(`identity ${identity}`, { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false }, async (t) => {
    const { matched, compared, differences } = await replay({ root: root ?? '', identity, ...scope })
    const known = baseline[identity]
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
  })
}
