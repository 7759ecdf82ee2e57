// Tests of the comparison of atomic values before and after an update.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { structTopology } from '../../schema/topology.js'
import { service } from '../testing/kinds.fixture.js'
import { compare } from './compare.js'

const root = structTopology(service)
const owner = { apiVersion: 'v1', kind: 'K', name: 'n', uid: 'u' }
const owned = (...ownerReferences: readonly object[]) => ({ metadata: { ownerReferences } })

test('a stored zero equals an absent field', () => {
  const { apiVersion: _, ...unversioned } = owner
  assert.deepEqual(compare(root, owned({ ...owner, apiVersion: '' }), owned(unversioned)), { changed: undefined, removed: undefined })
  assert.deepEqual(compare(root, owned(unversioned), owned({ ...owner, apiVersion: '' })), { changed: undefined, removed: undefined })
})

test('changed, added and removed members change an atomic value', () => {
  const { apiVersion: _, ...unversioned } = owner
  assert.notEqual(compare(root, owned(owner), owned({ ...owner, apiVersion: 'v2' })).changed, undefined)
  assert.notEqual(compare(root, owned(owner), owned(unversioned)).changed, undefined)
  assert.notEqual(compare(root, owned(unversioned), owned(owner)).changed, undefined)
})
