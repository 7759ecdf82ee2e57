// Large events are written in turns: so much in each, everybody in order, and nobody is forgotten.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PacedWrites } from './paced-writes.js'

const pieceBytes = 64 << 10

test('five hundred that want to write at once take turns of a megabyte, in order', async () => {
  const paced = new PacedWrites()
  const written: number[] = []
  const write = (who: number): void => {
    if (paced.take(pieceBytes, () => write(who))) written.push(who)
  }
  for (let who = 0; who < 500; who++) write(who)
  assert.equal(written.length, 16)
  for (let before = written.length; written.length < 500; before = written.length) {
    await nextTurn()
    assert.ok(written.length > before && written.length - before <= 16, `${written.length - before} in one turn`)
  }
  assert.deepEqual(
    written,
    Array.from({ length: 500 }, (_, i) => i),
  )
})

test('a turn in which nobody writes much makes nobody wait', async () => {
  const paced = new PacedWrites()
  for (let turn = 0; turn < 10; turn++) {
    assert.ok(paced.take(1 << 20, () => assert.fail('it was told that it may')))
    await nextTurn()
  }
})
