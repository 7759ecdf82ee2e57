// Whoever waits for loops that wait for somebody else waits for a while, and lets the processor rest meanwhile.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Parts } from './parts.js'
import { untilIdle } from './until-idle.js'

function loopsOf(isIdle: () => boolean) {
  const loops = { looks: 0, hurried: 0 }
  const parts = {
    loops: {
      isIdle: () => {
        loops.looks += 1
        return isIdle()
      },
      hurry: () => {
        loops.hurried += 1
      },
    },
  } as unknown as Pick<Parts, 'loops'>
  return { parts, loops }
}

test('loops that never get done are given up, and not looked at in every turn', async () => {
  const { parts, loops } = loopsOf(() => false)
  assert.equal(await untilIdle(parts, 500), false)
  // Five hundred turns, and a look every two milliseconds.
  assert.ok(loops.looks < 800, `${loops.looks} looks`)
})

test('loops that have nothing to do are asked once more', async () => {
  const { parts, loops } = loopsOf(() => true)
  assert.equal(await untilIdle(parts, 60_000), true)
  assert.deepEqual(loops, { looks: 3, hurried: 2 })
})

test('loops that get done are waited for', async () => {
  let left = 1000
  const { parts } = loopsOf(() => --left < 0)
  assert.equal(await untilIdle(parts, 60_000), true)
})
