// The recordings about what may enter, and in what shape: whatever matched before must match still.

import { describe, test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false
const scopes = [
  { profiles: ['default'], filter: '^admission-(?!resource-quota)' },
  { profiles: ['admission'], filter: '^admission-(hook|image)' },
]

describe('what may enter', { skip, concurrency: true }, () => {
  // These wait for half a minute, beside the others.
  for (const identity of identities) {
    test(`quotas, identity ${identity}`, (t) =>
      checkReplay(t, { root: root ?? '', identity, profiles: ['default'], filter: '^admission-resource-quota' }))
  }
  test('the others', async (t) => {
    // Their hooks have ports of their own, for one server at a time.
    for (const identity of identities) {
      await t.test(`identity ${identity}`, async (each) => {
        for (const scope of scopes) await checkReplay(each, { root: root ?? '', identity, ...scope })
      })
    }
  })
})
