// The recordings about who somebody is and what they may, in every profile that has such: whatever matched before must match still.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const scope = { profiles: ['default', 'auth', 'abac', 'authz-webhook'], filter: '^auth-' }

for (const identity of identities) {
  test(
    `who and whether, identity ${identity}`,
    { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false },
    (t) => checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
