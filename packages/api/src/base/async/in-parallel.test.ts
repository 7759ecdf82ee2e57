// Tests of inParallel: bounded concurrency and failures.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inParallel } from './in-parallel.js'

const items = Array.from({ length: 20 }, (_, index) => index)

test('at most `concurrency` items run at once', async () => {
  let running = 0
  let peak = 0
  const done: number[] = []
  await inParallel(items, 3, async (item) => {
    running += 1
    peak = Math.max(peak, running)
    await nextTurn()
    running -= 1
    done.push(item)
  })
  assert.deepEqual(done, items)
  assert.equal(peak, 3)
})

test('inParallel rejects only after running items have ended, and starts no more', async () => {
  let running = 0
  const started: number[] = []
  const work = inParallel(items, 4, async (item) => {
    started.push(item)
    running += 1
    if (item !== 1) await nextTurn()
    running -= 1
    if (item === 1) throw new Error('no')
  })
  await assert.rejects(work, /no/)
  assert.equal(running, 0)
  assert.deepEqual(started, [0, 1, 2, 3])
})
