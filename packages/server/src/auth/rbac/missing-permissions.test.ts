// Missing permissions of granted rules, in the format of kube-apiserver, and the limit of comparisons.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { turnBudget } from '@cluster-apiserver/api/base/turn-budget.js'
import type { PolicyRule } from '@cluster-apiserver/api/resources/rbac-authorization/v1.schema.js'
import { missingPermissions, TooManyRulesError } from './missing-permissions.js'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }
const missing = (held: readonly PolicyRule[], granted: readonly PolicyRule[]): Promise<readonly string[]> =>
  missingPermissions(held, granted, turnBudget)

const rows: readonly {
  readonly held: readonly PolicyRule[]
  readonly granted: readonly PolicyRule[]
  readonly missing: readonly string[]
}[] = [
  { held: [pods], granted: [pods], missing: [] },
  { held: [pods], granted: [{ ...pods, resourceNames: ['x'] }], missing: [] },
  {
    held: [{ ...pods, resourceNames: ['x'] }],
    granted: [pods],
    missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'],
  },
  {
    held: [{ ...pods, resourceNames: ['x'] }],
    granted: [{ ...pods, resourceNames: ['x', 'y'], verbs: ['get'] }],
    missing: ['{APIGroups:[""], Resources:["pods"], ResourceNames:["y"], Verbs:["get"]}'],
  },
  {
    held: [
      { ...pods, resourceNames: ['x'] },
      { ...pods, resourceNames: ['y'] },
    ],
    granted: [{ ...pods, resourceNames: ['x', 'y'] }],
    missing: [],
  },
  {
    held: [pods],
    granted: [{ ...pods, verbs: ['get', 'delete', 'watch'] }],
    missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}'],
  },
  { held: [pods], granted: [{ ...pods, verbs: ['*'] }], missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'] },
  { held: [{ ...pods, verbs: ['*'] }], granted: [{ ...pods, verbs: ['*', 'x'] }], missing: [] },
  { held: [{ ...pods, resources: ['*/log'] }], granted: [{ ...pods, resources: ['pods/log'] }], missing: [] },
  {
    held: [{ ...pods, resources: ['pods/*'] }],
    granted: [{ ...pods, resources: ['pods/log'], verbs: ['get'] }],
    missing: ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  },
  { held: [{ ...pods, resources: ['*'] }], granted: [{ ...pods, resources: ['pods/log'] }], missing: [] },
  {
    held: [pods],
    granted: [
      { apiGroups: ['', 'apps'], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    ],
    missing: [
      '{APIGroups:[""], Resources:["secrets"], Verbs:["create"]}',
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["create"]}',
    ],
  },
  { held: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }], granted: [{ verbs: ['get'], nonResourceURLs: ['/a/b', '/a/*'] }], missing: [] },
  {
    held: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }],
    granted: [{ verbs: ['get', 'put'], nonResourceURLs: ['/a', '/a/b'] }],
    missing: [
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/a/b"], Verbs:["put"]}',
    ],
  },
  { held: [{ verbs: ['get'], nonResourceURLs: ['*'] }], granted: [{ verbs: ['get'], nonResourceURLs: ['/x'] }], missing: [] },
  {
    held: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    granted: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    missing: ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  },
]

for (const row of rows) {
  test(`granting ${JSON.stringify(row.granted)} while holding ${JSON.stringify(row.held)} lacks ${row.missing.length} rules`, async () =>
    assert.deepEqual(await missing(row.held, row.granted), row.missing))
}

const numberedTexts = (char: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${char}${i}`)

test('rules with too many combinations are an error', async () => {
  const granted = [{ apiGroups: numberedTexts('g', 5000), resources: numberedTexts('r', 5000), verbs: numberedTexts('v', 5000) }]
  await assert.rejects(missing([pods], granted), TooManyRulesError)
})

test('a rule with only wildcards covers any number of combinations', async () => {
  const all = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  assert.deepEqual(
    await missing(all, [{ apiGroups: numberedTexts('g', 500), resources: numberedTexts('r', 500), verbs: numberedTexts('v', 500) }]),
    [],
  )
})
