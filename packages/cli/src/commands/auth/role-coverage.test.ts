// Coverage of RBAC rules (auth reconcile), and their table rows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ruleRows } from '../../output/rbac-rules.js'
import { uncovered } from './auth-reconcile.js'

test('uncovered returns the parts that no rule allows', () => {
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

test('ruleRows has one row per resource and path, in order', () => {
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
