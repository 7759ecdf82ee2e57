// Conditions of a terminating namespace.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { terminationConditions } from './namespace-conditions.js'

const now = Date.parse('2024-01-01T00:00:00Z')
const nothingRemaining = { objects: new Map<string, number>(), finalizers: new Map<string, number>(), failures: [] }
const statusOf = (conditions: ReturnType<typeof terminationConditions>) =>
  Object.fromEntries(conditions.map(({ type, status }) => [type, status]))

test('an empty namespace has nothing remaining', () => {
  const conditions = terminationConditions({ before: [], remaining: nothingRemaining, now })
  assert.equal(conditions.length, 5)
  assert.ok(conditions.every(({ status, lastTransitionTime }) => status === 'False' && lastTransitionTime === '2024-01-01T00:00:00Z'))
})

test('remaining objects are counted and finalizers named', () => {
  const remaining = {
    objects: new Map([['configmaps', 2]]),
    finalizers: new Map([
      ['example.com/b', 1],
      ['example.com/a', 2],
    ]),
    failures: [],
  }
  const conditions = terminationConditions({ before: [], remaining, now })
  const messages = Object.fromEntries(conditions.map(({ type, message }) => [type, message]))
  assert.equal(statusOf(conditions)['NamespaceContentRemaining'], 'True')
  assert.equal(messages['NamespaceContentRemaining'], 'Some resources are remaining: configmaps. has 2 resource instances')
  assert.equal(
    messages['NamespaceFinalizersRemaining'],
    'Some content in the namespace has finalizers remaining: example.com/a in 2 resource instances, example.com/b in 1 resource instances',
  )
})

test('unchanged conditions are returned as they are; other conditions and transition times are kept', () => {
  const mine = { type: 'Mine', status: 'True' }
  const first = terminationConditions({ before: [mine], remaining: nothingRemaining, now })
  assert.equal(first[0], mine)
  assert.equal(terminationConditions({ before: first, remaining: nothingRemaining, now: now + 5000 }), first)
  const later = terminationConditions({
    before: first,
    remaining: { ...nothingRemaining, objects: new Map([['secrets', 1]]) },
    now: now + 5000,
  })
  const times = Object.fromEntries(later.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]))
  assert.equal(times['NamespaceContentRemaining'], '2024-01-01T00:00:05Z')
  assert.equal(times['NamespaceFinalizersRemaining'], '2024-01-01T00:00:00Z')
})

test('failures are listed in NamespaceDeletionContentFailure', () => {
  const remaining = { ...nothingRemaining, failures: [new Error('no'), new Error('never')] }
  const failure = terminationConditions({ before: [], remaining, now }).find(({ type }) => type === 'NamespaceDeletionContentFailure')
  assert.equal(failure?.status, 'True')
  assert.equal(failure?.message, 'Failed to delete all resource types, 2 remaining: never, no')
})
