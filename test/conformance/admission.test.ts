// The recordings about what may enter, and in what shape: whatever matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const scopes = [
  { profiles: ['default'], filter: '^admission-' },
  { profiles: ['admission'], filter: '^admission-(hook|image)' },
]

for (const identity of identities) {
  test(`what may enter, identity ${identity}`, {
    skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false,
  }, async (t) => {
    for (const scope of scopes) await checkReplay(t, { root: root ?? '', identity, ...scope })
  })
}
