// What some rules allow of others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { uncovered } from './role-coverage.js'
import { ruleRows } from './rule-rows.js'

test('what is allowed already is not missing', () => {
  const pods = { apiGroups: [''], resources: ['pods', 'pods/log'], verbs: ['get', 'list'] }
  assert.deepEqual(uncovered([{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }], [pods]), [])
  assert.deepEqual(uncovered([pods], [{ ...pods, resourceNames: ['a'] }]), [])
  assert.deepEqual(uncovered([{ ...pods, resourceNames: ['a'] }], [pods]), [pods])
  assert.deepEqual(uncovered([{ ...pods, resources: ['pods', '*/log'] }], [pods]), [])
  assert.deepEqual(uncovered([{ ...pods, verbs: ['get'] }], [{ ...pods, resources: ['pods'] }]), [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
  ])
  const paths = { nonResourceURLs: ['/a/b', '/c'], verbs: ['get'] }
  assert.deepEqual(uncovered([{ nonResourceURLs: ['/a/*'], verbs: ['get'] }], [paths]), [{ nonResourceURLs: ['/c'], verbs: ['get'] }])
})

test('rules as rows: one for each resource and path, in order', () => {
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['get'] },
    { apiGroups: ['apps', ''], resources: ['pods'], verbs: ['get', 'list'] },
    { nonResourceURLs: ['/x'], verbs: ['get'] },
    { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
  ]
  assert.deepEqual(ruleRows(rules), [
    ['*.*', '[]', '[]', '[*]'],
    ['pods', '[]', '[]', '[get list]'],
    ['pods.apps', '[]', '[]', '[get list]'],
    ['', '[/x]', '[]', '[get]'],
  ])
})
