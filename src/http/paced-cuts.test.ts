// What is ended together does not hold the event loop: a few in each turn, in their order, and all of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { PacedCuts } from './paced-cuts.js'

test('what takes long is done in turns of a few milliseconds, in order', async () => {
  const cuts = new PacedCuts()
  const done: number[] = []
  const cut = (i: number): void => {
    for (const until = performance.now() + 1; performance.now() < until; );
    done.push(i)
    // More may come meanwhile.
    if (i === 10) cuts.add(() => cut(40))
  }
  for (let i = 0; i < 40; i++) cuts.add(() => cut(i))
  assert.deepEqual(done, [])
  for (let before = 0; done.length < 41; before = done.length) {
    await nextTurn()
    assert.ok(done.length - before <= 3, `${done.length - before} in one turn`)
  }
  assert.deepEqual(
    done,
    Array.from({ length: 41 }, (_, i) => i),
  )
})

test('what takes no time is done in one turn, and again later', async () => {
  const cuts = new PacedCuts()
  for (let times = 0; times < 2; times++) {
    let done = 0
    for (let i = 0; i < 20; i++) cuts.add(() => void done++)
    for (let turns = 0; turns < 1000 && done < 20; turns++) await nextTurn()
    assert.equal(done, 20)
  }
})
