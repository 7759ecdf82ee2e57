// Store metrics with a bounded number of collections.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreCounters } from './store-metrics.js'

test('of twenty thousand collections 2000 are counted on their own, the rest together', () => {
  const counters = new StoreCounters()
  for (let i = 0; i < 20_000; i++) counters.of(`kinds${i}`).lists++
  const all = [...counters.all()]
  assert.equal(all.length, 2_001)
  assert.deepEqual([all.at(-1)?.collection, all.at(-1)?.lists], ['other', 18_000])
})
