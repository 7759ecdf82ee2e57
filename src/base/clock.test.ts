// Waiting with a bound.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atMost } from './clock.js'

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
