// The recordings about what users add to the API, definitions of custom kinds, their objects, expressions and API services: whatever
// matched before must match still.

import { describe, test } from 'node:test'
import { checkReplay } from './check.js'
import { findRecordings, identities } from './replay.js'

const root = findRecordings()
const skip = root === undefined ? 'there are no recordings here; see CONFORMANCE_ROOT' : false
const profiles = ['default']

// They wait for most of their time, so they wait together.
describe('what users add', { skip, concurrency: true }, () => {
  for (const identity of identities) {
    test(`identity ${identity}`, (t) =>
      checkReplay(t, { root: root ?? '', identity, profiles, filter: '^extension-(c(r|rd|el)-(?!conversion)|apiservice)' }))
  }
  test('conversion', async (t) => {
    // Its hook has a port of its own, for one server at a time.
    for (const identity of identities) {
      await t.test(`identity ${identity}`, (each) =>
        checkReplay(each, { root: root ?? '', identity, profiles, filter: '^extension-crd-conversion' }),
      )
    }
  })
})
