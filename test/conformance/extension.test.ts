// The recordings about what users add to the API, definitions of custom kinds, their objects, expressions and API services: whatever
// matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const scope = { profiles: ['default'], filter: '^extension-(c(r|rd|el)-|apiservice)' }

for (const identity of identities) {
  test(
    `what users add, identity ${identity}`,
    { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false },
    (t) => checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
