// What counts as a change of a value that is owned as one.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structTopology } from '../schema/topology.js'
import { compare } from './compare.js'
import { service } from './kinds.fixture.js'

const root = structTopology(service)
const owner = { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }
const owned = (...ownerReferences: readonly object[]) => ({ metadata: { ownerReferences } })

test('a zero that is stored is the one that nobody sent', () => {
  const { apiVersion: _, ...unversioned } = owner
  assert.deepEqual(compare(root, owned({ ...owner, apiVersion: '' }), owned(unversioned)), { changed: undefined, removed: undefined })
  assert.deepEqual(compare(root, owned(unversioned), owned({ ...owner, apiVersion: '' })), { changed: undefined, removed: undefined })
})

test('another value is a change, and so is one that came or went', () => {
  const { apiVersion: _, ...unversioned } = owner
  assert.notEqual(compare(root, owned(owner), owned({ ...owner, apiVersion: 'v2' })).changed, undefined)
  assert.notEqual(compare(root, owned(owner), owned(unversioned)).changed, undefined)
  assert.notEqual(compare(root, owned(unversioned), owned(owner)).changed, undefined)
})
