// Last changes: whether a collection has changed since a revision.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LastChanges } from './last-changes.js'

test('a collection is unchanged until one of its keys changes', () => {
  const storage = { revision: 10 }
  const changes = new LastChanges(storage)
  assert.deepEqual(
    [9, 10, 11].map((revision) => changes.isUnchangedSince(revision, 'boxes/n/a')),
    [false, true, false],
    'changes before the start are unknown, and later revisions do not exist yet',
  )
  storage.revision = 12
  changes.record('leases/n/a')
  assert.deepEqual(
    [changes.isUnchangedSince(10, 'boxes/'), changes.isUnchangedSince(10, 'leases/'), changes.isUnchangedSince(12, 'leases/')],
    [true, false, true],
  )
  storage.revision = 13
  changes.record('boxes/n/a')
  assert.deepEqual(
    [changes.isUnchangedSince(12, 'boxes/'), changes.isUnchangedSince(13, 'boxes/'), changes.isUnchangedSince(12, 'leases/')],
    [false, true, true],
  )
})

test('with ten times the recorded collections, records are dropped and never wrong', () => {
  const storage = { revision: 1 }
  const changes = new LastChanges(storage)
  for (let i = 0; i < 20_000; i++) {
    storage.revision += 1
    changes.record(`kind-${i}/a`)
    assert.equal(changes.isUnchangedSince(storage.revision - 1, `kind-${i}/a`), false)
  }
  assert.equal(changes.isUnchangedSince(2, 'kind-0/'), false)
})
