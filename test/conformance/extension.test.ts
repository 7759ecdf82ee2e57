// The recordings about what users add to the API, definitions of custom kinds, their objects and expressions: whatever matched before must
// match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const scope = { profiles: ['default'], filter: '^extension-c(r|rd|el)-' }

for (const identity of identities) {
  test(
    `custom kinds, identity ${identity}`,
    { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false },
    (t) => checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
