// Tests of timers, and of waits with a timeout.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemTimers, timerMs, waitAtMost } from './clock.js'

const msOf = async (waiting: Promise<void>): Promise<number> => {
  const startMs = performance.now()
  await waiting
  return performance.now() - startMs
}

test('waitAtMost resolves as soon as the work resolves or rejects', async () => {
  for (const work of [Promise.resolve(), Promise.reject(new Error('no'))]) assert.ok((await msOf(waitAtMost(60_000, work))) < 50_000)
})

test('waitAtMost resolves after the timeout if the work does not settle', async () => {
  const tookMs = await msOf(waitAtMost(50, new Promise(() => undefined)))
  assert.ok(tookMs > 40 && tookMs < 50_000, `${tookMs} ms`)
})

test('a timeout beyond the maximum of Node.js timers does not fire at once', async () => {
  let end: () => void = () => undefined
  let hasTimedOut = false
  const waiting = waitAtMost(600 * 3_600_000, new Promise<void>((resolve) => (end = resolve))).then(() => (hasTimedOut = true))
  await sleep(10)
  assert.equal(hasTimedOut, false)
  end()
  await waiting
  assert.deepEqual([timerMs(5), timerMs(Number.POSITIVE_INFINITY)], [5, 2_147_483_647])
})

test('timers run until they are canceled; a delay of months does not end at once', async () => {
  const runs: string[] = []
  const cancelMonths = systemTimers.after(60 * 24 * 3_600_000, () => runs.push('months'))
  const cancelNever = systemTimers.after(1, () => runs.push('canceled'))
  cancelNever()
  const cancel = systemTimers.every(1, () => {
    if (runs.push('periodic') === 3) cancel()
  })
  // The timers do not keep the process alive.
  for (let waits = 0; waits < 12_000 && runs.length < 3; waits++) await sleep(5)
  await sleep(10)
  cancelMonths()
  assert.deepEqual(runs, ['periodic', 'periodic', 'periodic'])
})
