// Tests of ServiceAccounts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, testContext } from '../../api/rule-context.fixture.js'
import { validateChange, validateCreation } from '../../api/validation/validate-write.js'
import { serviceAccount } from './service-account.js'

const context = testContext()
const metadata = { name: 'robot', namespace: 'shop', resourceVersion: '1', creationTimestamp: '2024-03-01T11:00:00Z' }
const sent = frozen({
  metadata,
  secrets: [{ kind: 'Secret', namespace: 'elsewhere', name: 's1', uid: 'u', fieldPath: 'data.x' }, {}],
  imagePullSecrets: [{}],
})

test('a secret reference is reduced to its name', () => {
  const kept = { ...sent, secrets: [{ name: 's1' }, {}] }
  assert.deepEqual(serviceAccount.prepareCreate?.(sent, context), kept)
  assert.deepEqual(serviceAccount.prepareUpdate?.(sent, sent, context), kept)
})

test('an account without secrets is returned unchanged', () => {
  const account = frozen({ metadata })
  assert.equal(serviceAccount.prepareCreate?.(account, context), account)
})

test('secret references are not validated', () => assert.deepEqual(validateCreation(serviceAccount, sent, context), []))

test('metadata errors are repeated on update', () => {
  const next = frozen({ metadata: { ...metadata, labels: { k: '-' } } })
  assert.equal(validateChange(serviceAccount, { next, old: frozen({ metadata }) }, context).length, 4)
})

test('the name must be a DNS subdomain', () => {
  assert.equal(serviceAccount.nameProblems('build.robot-1.example', false).length, 0)
  assert.equal(serviceAccount.nameProblems('Build', false).length, 1)
})

test('printer columns', () => {
  assert.deepEqual(serviceAccount.table?.cells(sent, context), ['robot', 2, '60m'])
  assert.deepEqual(serviceAccount.table?.cells(frozen({ metadata }), context), ['robot', 0, '60m'])
})
