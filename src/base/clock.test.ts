// Waiting with a bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { atMost, timerMs } from './clock.js'

const msOf = async (waiting: Promise<void>): Promise<number> => {
  const startMs = performance.now()
  await waiting
  return performance.now() - startMs
}

test('work that ends, well or not, is waited for and no longer', async () => {
  for (const work of [Promise.resolve(), Promise.reject(new Error('no'))]) assert.ok((await msOf(atMost(60_000, work))) < 50_000)
})

test('work that does not end is given up', async () => {
  const tookMs = await msOf(atMost(50, new Promise(() => undefined)))
  assert.ok(tookMs > 40 && tookMs < 50_000, `${tookMs} ms`)
})

test('what may take longer than timers can be set for is not given up at once', async () => {
  let end: () => void = () => undefined
  let isGivenUp = false
  const waiting = atMost(600 * 3_600_000, new Promise<void>((resolve) => (end = resolve))).then(() => (isGivenUp = true))
  await sleep(10)
  assert.equal(isGivenUp, false)
  end()
  await waiting
  assert.deepEqual([timerMs(5), timerMs(Number.POSITIVE_INFINITY)], [5, 2_147_483_647])
})
