// Waiting until controllers are idle.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { waitUntilIdle } from './until-idle.js'

function controllersOf(isIdle: () => boolean) {
  const counters = { polls: 0, expedited: 0 }
  const parts = {
    controllers: {
      isIdle: () => {
        counters.polls += 1
        return isIdle()
      },
      expedite: () => {
        counters.expedited += 1
      },
    },
  }
  return { parts, counters }
}

test('waits until controllers are idle', async () => {
  let pollsLeft = 1000
  const { parts } = controllersOf(() => --pollsLeft < 0)
  assert.equal(await waitUntilIdle(parts, 60_000), true)
})
