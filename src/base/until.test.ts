// What never comes is given up, however short the pauses are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './until.fixture.js'

for (const pauseMs of [0, 0.5, 5])
  test(`what never comes is given up, with pauses of ${pauseMs} ms`, async () => {
    let looks = 0
    const never = (): boolean => {
      looks += 1
      return looks > 1000
    }
    await assert.rejects(until(never, pauseMs, 20), /waited in vain/)
  })

test('what comes is waited for', async () => {
  let looks = 0
  await until(() => ++looks === 3, 0)
  assert.equal(looks, 3)
})
