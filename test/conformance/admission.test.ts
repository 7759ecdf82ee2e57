// The recordings about what may enter, and in what shape: whatever matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
// Files about webhooks wait for minutes for what nobody does yet.
const scope = { profiles: ['default'], filter: '^admission-(?!webhook)' }

for (const identity of identities) {
  test(
    `what may enter, identity ${identity}`,
    { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false },
    (t) => checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
