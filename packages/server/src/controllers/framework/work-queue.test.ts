// Work queue: deduplication, concurrency, back-off, delays, overflow, close and metrics.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationBounds, QueueCounters } from './queue-metrics.js'
import { FakeTimers, flushTurns } from './timers.fixture.js'
import { type QueueOptions, WorkQueue } from './work-queue.js'

interface Work {
  readonly key: string
  readonly end: () => void
  readonly fail: (thrown: unknown) => void
}

function setUp(options: Partial<QueueOptions> = {}) {
  const timers = new FakeTimers()
  const counters = new QueueCounters('test')
  const open: Work[] = []
  const started: string[] = []
  const failures: { readonly key: string; readonly retryMs: number }[] = []
  const overflows: number[] = []
  const queue = new WorkQueue({
    work: (key) => {
      started.push(key)
      return new Promise((resolve, reject) => open.push({ key, end: () => resolve(undefined), fail: reject }))
    },
    onFailure: (key, _, retryMs) => failures.push({ key, retryMs }),
    onOverflow: (afterMs) => overflows.push(afterMs),
    backOff: { firstMs: 100, maxMs: 1000 },
    timers,
    counters,
    random: () => 1,
    ...options,
  })
  const next = async (): Promise<Work> => {
    await flushTurns()
    return open.shift() as Work
  }
  return { queue, timers, counters, open, started, failures, overflows, next }
}

test('a key is queued once, and runs again if it is added while it runs', async () => {
  const { queue, started, next } = setUp({ concurrency: 4 })
  for (const key of ['a', 'a', 'b', 'a']) queue.add(key)
  assert.deepEqual(started, [], 'not in the same event-loop iteration')
  await flushTurns()
  assert.deepEqual(started, ['a', 'b'])
  for (let i = 0; i < 3; i++) queue.add('a')
  await flushTurns()
  assert.deepEqual(started, ['a', 'b'], 'not twice concurrently')
  ;(await next()).end()
  await flushTurns()
  assert.deepEqual(started, ['a', 'b', 'a'])
})

test('a run may queue other keys', async () => {
  const started: string[] = []
  const { queue } = setUp({
    work: async (key) => {
      started.push(key)
      return key === 'a' ? { keys: ['b', 'c', 'b'] } : undefined
    },
  })
  queue.add('a')
  await flushTurns()
  assert.deepEqual(started, ['a', 'b', 'c'])
})

test('runs all keys, at most `concurrency` at a time', async () => {
  let running = 0
  let maxRunning = 0
  const done: string[] = []
  const { queue } = setUp({
    concurrency: 3,
    work: async (key) => {
      running += 1
      maxRunning = Math.max(maxRunning, running)
      await flushTurns()
      running -= 1
      done.push(key)
      return undefined
    },
  })
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`)
  for (const key of keys) queue.add(key)
  for (let i = 0; i < 20 && done.length < keys.length; i++) await flushTurns()
  assert.deepEqual(done, keys)
  assert.equal(maxRunning, 3)
})

test('a failing key is retried with exponential back-off up to maxMs, until it succeeds', async () => {
  const { queue, timers, failures, next, started } = setUp()
  queue.add('a')
  for (let i = 0; i < 6; i++) {
    ;(await next()).fail(new Error('no'))
    await flushTurns()
    assert.equal(started.length, i + 1)
    await timers.advance(failures[i]?.retryMs ?? 0)
  }
  assert.deepEqual(
    failures.map(({ retryMs }) => retryMs),
    [100, 200, 400, 800, 1000, 1000],
  )
  ;(await next()).end()
  await flushTurns()
  queue.add('a')
  ;(await next()).fail(new Error('no'))
  await flushTurns()
  assert.equal(failures.at(-1)?.retryMs, 100, 'success resets the back-off')
})

test('jitter spreads the retries of keys that fail together', async () => {
  const { queue, failures, open } = setUp({ concurrency: 50, random: Math.random })
  for (let i = 0; i < 50; i++) queue.add(`k${i}`)
  await flushTurns()
  for (const { fail } of open) fail(new Error('no'))
  await flushTurns()
  const delays = failures.map(({ retryMs }) => retryMs)
  assert.ok(new Set(delays).size > 40)
  assert.ok(delays.every((ms) => ms >= 75 && ms <= 100))
})

test('adding a key cancels its pending retry', async () => {
  const { queue, timers, next, started } = setUp()
  queue.add('a')
  ;(await next()).fail(new Error('no'))
  await flushTurns()
  queue.add('a')
  await flushTurns()
  assert.equal(started.length, 2)
  ;(await next()).end()
  await timers.advance(10_000)
  assert.equal(started.length, 2, 'no second retry')
})

test('a key that fails and is added meanwhile waits the first delay', async () => {
  const { queue, timers, next, started } = setUp()
  queue.add('a')
  const first = await next()
  queue.add('a')
  first.fail(new Error('no'))
  await flushTurns()
  assert.equal(started.length, 1)
  await timers.advance(100)
  assert.equal(started.length, 2)
})

test('of several delays of a key the shortest counts, and work can request another', async () => {
  const { queue, timers, started } = setUp({ work: async (key) => (started.push(key) === 1 ? { afterMs: 500 } : undefined) })
  queue.addAfter('a', 300)
  queue.addAfter('a', 200)
  queue.addAfter('a', 900)
  await timers.advance(199)
  assert.equal(started.length, 0)
  await timers.advance(1)
  assert.equal(started.length, 1)
  await timers.advance(499)
  assert.equal(started.length, 1)
  await timers.advance(1)
  assert.equal(started.length, 2)
  assert.equal(timers.size, 0, 'no timer is left')
})

test('a full queue reports the overflow, and waitForSpace resolves when half is free', async () => {
  const { queue, overflows, next, started } = setUp({ maxKeys: 4 })
  queue.add('running')
  await flushTurns()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) queue.add(key)
  assert.deepEqual(overflows, [0, 0])
  assert.equal(queue.hasSpace, false)
  let hasSpace = false
  void queue.waitForSpace().then(() => {
    hasSpace = true
  })
  ;(await next()).end()
  await flushTurns()
  assert.equal(hasSpace, false, 'not for one free slot')
  ;(await next()).end()
  await flushTurns()
  assert.equal(hasSpace, true)
  for (const _ of ['b', 'c', 'd']) (await next()).end()
  await flushTurns()
  assert.deepEqual(started, ['running', 'a', 'b', 'c', 'd'])
})

test('delayed keys have a limit of their own', async () => {
  const { queue, overflows, started } = setUp({ maxKeys: 2 })
  for (const key of ['a', 'b', 'c']) queue.addAfter(key, 700)
  assert.deepEqual(overflows, [700])
  queue.add('d')
  await flushTurns()
  assert.deepEqual(started, ['d'])
})

test('close waits for running keys and drops all others', async () => {
  const { queue, timers, next, started } = setUp()
  for (const key of ['a', 'b']) queue.add(key)
  queue.addAfter('c', 100)
  const running = await next()
  let isClosed = false
  const closing = queue.close().then(() => {
    isClosed = true
  })
  queue.add('d')
  queue.add('a')
  await flushTurns()
  assert.equal(isClosed, false)
  running.fail(new Error('no'))
  await closing
  await timers.advance(10_000)
  assert.deepEqual(started, ['a'])
  assert.equal(timers.size, 0)
})

test('metrics count adds, retries, queue and work durations', async () => {
  const { queue, timers, counters, next } = setUp()
  for (const key of ['a', 'a', 'b']) queue.add(key)
  const first = await next()
  assert.equal(counters.state().depth, 1)
  timers.spend(2000)
  assert.deepEqual(counters.state(), { depth: 1, unfinishedSeconds: 2, longestRunningSeconds: 2 })
  first.fail(new Error('no'))
  ;(await next()).end()
  await flushTurns()
  assert.equal(counters.adds, 2)
  assert.equal(counters.retries, 1)
  assert.equal(counters.queued.sum, 2)
  assert.equal(counters.worked.sum, 2)
  assert.equal(
    counters.worked.counts.reduce((sum, each) => sum + each, 0),
    2,
  )
  assert.equal(counters.worked.counts[durationBounds.length - 1], 1, '2 s are in the bucket up to 10 s')
  await queue.close()
  assert.deepEqual(counters.state(), { depth: 0, unfinishedSeconds: 0, longestRunningSeconds: 0 })
})

test('isIdle ignores delayed keys; expedite runs those due soon', async () => {
  const { queue, started, next } = setUp()
  assert.equal(queue.isIdle, true)
  queue.addAfter('soon', 300)
  queue.addAfter('late', 5000)
  assert.equal(queue.isIdle, true)
  queue.expedite(1000)
  assert.equal(queue.isIdle, false)
  ;(await next()).end()
  await flushTurns()
  assert.equal(queue.isIdle, true)
  assert.deepEqual(started, ['soon'])
})
