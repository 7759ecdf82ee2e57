// Tests of duplicate owner references: one is kept, and the client gets a warning.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withDistinctOwners } from './object-meta.js'

const owner = { apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'u1' }
const advice = 'API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests'

test('duplicate owner references are dropped with a warning', () => {
  const warnings: string[] = []
  const warn = (text: string): void => void warnings.push(text)
  const other = { ...owner, uid: 'u2' }
  const object = { metadata: { ownerReferences: [owner, { ...owner }, other, { ...owner, controller: true }, { ...other }] } }
  const { metadata } = withDistinctOwners(object, warn)
  assert.deepEqual(metadata?.ownerReferences, [owner, other, { ...owner, controller: true }])
  withDistinctOwners(object, warn, true)
  assert.deepEqual(warnings, [
    `.metadata.ownerReferences contains duplicate entries; ${advice}; duplicate UID(s) observed: u1, u2`,
    `.metadata.ownerReferences contains duplicate entries after mutating admission happens; ${advice}; duplicate UID(s) observed: u1, u2`,
  ])
})

test('different owner references are kept', () => {
  const object = { metadata: { ownerReferences: [owner, { ...owner, name: 'q' }] } }
  assert.equal(
    withDistinctOwners(object, () => assert.fail('nothing is repeated')),
    object,
  )
})
