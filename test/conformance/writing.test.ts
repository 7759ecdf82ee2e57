// The recordings about writes, and about the kinds beside the specified ones: whatever matched before must match still.

import { describe, test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false
const scope = { profiles: ['default'], filter: '^(writing|extension-kind)-' }

// They wait for much of their time, so they wait together.
describe('writes and kinds', { skip, concurrency: true }, () => {
  for (const identity of identities) test(`identity ${identity}`, (t) => checkReplay(t, { root: root ?? '', identity, ...scope }))
})
