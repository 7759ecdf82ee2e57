// What is counted of API services is bounded, whether or not anybody reads it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AggregationTallies } from './tallies.js'

test('services that come and go do not pile up', () => {
  const tallies = new AggregationTallies()
  for (let i = 0; i < 5_000; i++) {
    tallies.countUnavailable(`v${i}`, 'FailedDiscoveryCheck')
    tallies.countRegeneration(`v${i}`, 'delete', 0)
  }
  const all = [...tallies.timesUnavailable(() => true)]
  assert.deepEqual([all.length, all.at(-1)], [2_000, ['v4999', 'FailedDiscoveryCheck', 1]])
  assert.equal([...tallies.regenerations((name) => name === 'v4999')].length, 1)
  assert.equal([...tallies.regenerations(() => true)].length, 1)
})
