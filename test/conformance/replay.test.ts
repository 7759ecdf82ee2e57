// The recordings about objects and how they are read, replayed: whatever matched before must match still. CONFORMANCE=all replays every file of
// every profile.

import { test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const isThorough = process.env['CONFORMANCE'] === 'all'
const scope = isThorough ? {} : { profiles: ['default', 'compaction'], filter: '^(objects|reading)-' }

for (const identity of identities) {
  test(`identity ${identity}`, { skip: root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false }, (t) =>
    checkReplay(t, { root: root ?? '', identity, ...scope }),
  )
}
