// The recordings about writes, and about the kinds beside the specified ones: whatever matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const scope = { profiles: ['default'], filter: '^(writing|extension-kind)-' }

for (const identity of identities) {
  test(
    `writes and kinds, identity ${identity}`,
    { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false },
    (t) => checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
