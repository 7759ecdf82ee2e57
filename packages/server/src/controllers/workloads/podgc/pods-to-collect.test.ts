// Tests of the order in which finished pods are deleted.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { podsAboveThreshold } from './pods-to-collect.js'

const pod = (name: string, second: number, reason = ''): Pod => ({
  metadata: { name, creationTimestamp: `2026-01-01T00:00:0${second}Z` },
  status: { phase: 'Failed', reason },
})

const pods = [pod('c', 1), pod('b', 2), pod('a', 2), pod('late', 9, 'Evicted')]

for (const [threshold, expected] of [
  [4, []],
  [3, ['late']],
  [1, ['late', 'c', 'a']],
  [0, ['late', 'c', 'a', 'b']],
] as const)
  test(`threshold ${threshold}`, () =>
    assert.deepEqual(
      podsAboveThreshold(pods, threshold).map(({ metadata }) => metadata?.name),
      expected,
    ))
