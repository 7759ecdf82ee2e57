// Several at a time, all of them, and an end that waits for what runs.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as flushTurns } from 'node:timers/promises'
import { inParallel } from './in-parallel.js'

const items = Array.from({ length: 20 }, (_, index) => index)

test('no more at a time than was said', async () => {
  let running = 0
  let most = 0
  const done: number[] = []
  await inParallel(items, 3, async (item) => {
    running += 1
    most = Math.max(most, running)
    await flushTurns()
    running -= 1
    done.push(item)
  })
  assert.deepEqual(done, items)
  assert.equal(most, 3)
})

test('a failure is told when nothing runs any more', async () => {
  let running = 0
  const begun: number[] = []
  const work = inParallel(items, 4, async (item) => {
    begun.push(item)
    running += 1
    if (item !== 1) await flushTurns()
    running -= 1
    if (item === 1) throw new Error('no')
  })
  await assert.rejects(work, /no/)
  assert.equal(running, 0)
  assert.deepEqual(begun, [0, 1, 2, 3])
})
