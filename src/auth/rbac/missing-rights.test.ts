// What of new rules their writer does not hold, in the words of the reference; and that no rules are too many to answer.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../../base/pieces.js'
import { threadMs } from '../../base/thread-time.fixture.js'
import { timedTest } from '../../base/timed-test.fixture.js'
import type { PolicyRule } from '../../resources/rbac-authorization/v1.schema.js'
import { missingRights, TooManyRightsError } from './missing-rights.js'

const pods: PolicyRule = { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list'] }
const missing = (held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly string[] => atOnce(missingRights(held, wanted))

const rows: readonly {
  readonly held: readonly PolicyRule[]
  readonly wanted: readonly PolicyRule[]
  readonly missing: readonly string[]
}[] = [
  { held: [pods], wanted: [pods], missing: [] },
  { held: [pods], wanted: [{ ...pods, resourceNames: ['x'] }], missing: [] },
  {
    held: [{ ...pods, resourceNames: ['x'] }],
    wanted: [pods],
    missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}'],
  },
  {
    held: [{ ...pods, resourceNames: ['x'] }],
    wanted: [{ ...pods, resourceNames: ['x', 'y'], verbs: ['get'] }],
    missing: ['{APIGroups:[""], Resources:["pods"], ResourceNames:["y"], Verbs:["get"]}'],
  },
  {
    held: [
      { ...pods, resourceNames: ['x'] },
      { ...pods, resourceNames: ['y'] },
    ],
    wanted: [{ ...pods, resourceNames: ['x', 'y'] }],
    missing: [],
  },
  {
    held: [pods],
    wanted: [{ ...pods, verbs: ['get', 'delete', 'watch'] }],
    missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["delete" "watch"]}'],
  },
  { held: [pods], wanted: [{ ...pods, verbs: ['*'] }], missing: ['{APIGroups:[""], Resources:["pods"], Verbs:["*"]}'] },
  { held: [{ ...pods, verbs: ['*'] }], wanted: [{ ...pods, verbs: ['*', 'x'] }], missing: [] },
  { held: [{ ...pods, resources: ['*/log'] }], wanted: [{ ...pods, resources: ['pods/log'] }], missing: [] },
  {
    held: [{ ...pods, resources: ['pods/*'] }],
    wanted: [{ ...pods, resources: ['pods/log'], verbs: ['get'] }],
    missing: ['{APIGroups:[""], Resources:["pods/log"], Verbs:["get"]}'],
  },
  { held: [{ ...pods, resources: ['*'] }], wanted: [{ ...pods, resources: ['pods/log'] }], missing: [] },
  {
    held: [pods],
    wanted: [
      { apiGroups: ['', 'apps'], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
    ],
    missing: [
      '{APIGroups:[""], Resources:["secrets"], Verbs:["create"]}',
      '{APIGroups:["*"], Resources:["*"], Verbs:["*"]}',
      '{APIGroups:["apps"], Resources:["secrets"], Verbs:["create"]}',
    ],
  },
  { held: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }], wanted: [{ verbs: ['get'], nonResourceURLs: ['/a/b', '/a/*'] }], missing: [] },
  {
    held: [{ verbs: ['get'], nonResourceURLs: ['/a/*'] }],
    wanted: [{ verbs: ['get', 'put'], nonResourceURLs: ['/a', '/a/b'] }],
    missing: [
      '{NonResourceURLs:["/a"], Verbs:["get"]}',
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/a/b"], Verbs:["put"]}',
    ],
  },
  { held: [{ verbs: ['get'], nonResourceURLs: ['*'] }], wanted: [{ verbs: ['get'], nonResourceURLs: ['/x'] }], missing: [] },
  {
    held: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
    wanted: [{ verbs: ['get'], nonResourceURLs: ['/x'] }],
    missing: ['{NonResourceURLs:["/x"], Verbs:["get"]}'],
  },
]

for (const row of rows) {
  test(`of ${JSON.stringify(row.wanted)} beside ${JSON.stringify(row.held)}`, () =>
    assert.deepEqual(missing(row.held, row.wanted), row.missing))
}

const words = (letter: string, count: number): string[] => Array.from({ length: count }, (_, i) => `${letter}${i}`)

test('a product that nobody could go through is given up, and others have turns meanwhile', () => {
  const work = missingRights([pods], [{ apiGroups: words('g', 5000), resources: words('r', 5000), verbs: words('v', 5000) }])
  let turns = 0
  assert.throws(() => {
    while (!work.next().done) turns += 1
  }, TooManyRightsError)
  assert.ok(turns > 1000)
})

test('whoever may do everything holds any product', () => {
  const all = [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }]
  assert.deepEqual(missing(all, [{ apiGroups: words('g', 500), resources: words('r', 500), verbs: words('v', 500) }]), [])
})

timedTest('rules of very long lists are looked through in short steps', async () => {
  const everything: PolicyRule = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] }
  const long = words('n', 150_000)
  for (const wanted of [
    { ...pods, resourceNames: long },
    { ...pods, resources: long },
    { ...pods, nonResourceURLs: long },
  ]) {
    const work = missingRights([everything], [wanted])
    let longestMs = 0
    for (let isDone = false; !isDone; ) {
      const begunMs = threadMs()
      isDone = work.next().done === true
      longestMs = Math.max(longestMs, threadMs() - begunMs)
    }
    assert.ok(longestMs < 20, `${longestMs} ms`)
  }
})
