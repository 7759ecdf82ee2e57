// The recordings about objects, how they are read and written, and about kinds, replayed: whatever matched before must match still. CONFORMANCE=all replays every file of
// every profile.

import { describe, test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false
const isThorough = process.env['CONFORMANCE'] === 'all'
const scope = isThorough ? {} : { profiles: ['default', 'compaction'], filter: '^(objects|reading|writing|extension-kind)-' }

// They wait for much of their time, so they wait together; among all of them are hooks with ports for one server at a time.
describe('objects, reading and writing', { skip, concurrency: !isThorough }, () => {
  for (const identity of identities) test(`identity ${identity}`, (t) => checkReplay(t, { root: root ?? '', identity, ...scope }))
})
