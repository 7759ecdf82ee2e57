// Kinds that are defined and removed again, without an end: a number of them is told apart, and the others are counted together.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StoreTallies } from './store-tallies.js'

test('twenty thousand collections', () => {
  const tallies = new StoreTallies()
  for (let i = 0; i < 20_000; i++) tallies.of(`kinds${i}`).lists++
  const all = [...tallies.all()]
  assert.equal(all.length, 2_001)
  assert.deepEqual([all.at(-1)?.collection, all.at(-1)?.lists], ['other', 18_000])
})
