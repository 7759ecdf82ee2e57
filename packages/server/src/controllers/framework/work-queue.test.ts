// Keys once in the queue and once at work, what fails later and later, a bound that loses nothing, and an end after which nothing starts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { durationBounds, QueueCounters } from './counters.js'
import { KeyedQueue, type QueueOptions } from './keyed-queue.js'
import { FakeTimers, flushTurns } from './timers.fixture.js'

interface Work {
  readonly key: string
  readonly end: () => void
  readonly fail: (thrown: unknown) => void
}

function setUp(options: Partial<QueueOptions> = {}) {
  const timers = new FakeTimers()
  const counters = new QueueCounters('test')
  const open: Work[] = []
  const begun: string[] = []
  const failures: { readonly key: string; readonly againMs: number }[] = []
  const overflows: number[] = []
  const queue = new KeyedQueue({
    work: (key) => {
      begun.push(key)
      return new Promise((resolve, reject) => open.push({ key, end: () => resolve(undefined), fail: reject }))
    },
    onFailure: (key, _, againMs) => failures.push({ key, againMs }),
    onOverflow: (afterMs) => overflows.push(afterMs),
    backOff: { firstMs: 100, mostMs: 1000 },
    timers,
    counters,
    random: () => 1,
    ...options,
  })
  const next = async (): Promise<Work> => {
    await flushTurns()
    return open.shift() as Work
  }
  return { queue, timers, counters, open, begun, failures, overflows, next }
}

test('a key waits once, and is worked on again when it is asked for meanwhile', async () => {
  const { queue, begun, next } = setUp({ concurrency: 4 })
  for (const key of ['a', 'a', 'b', 'a']) queue.add(key)
  assert.deepEqual(begun, [], 'never in the turn of whoever added it')
  await flushTurns()
  assert.deepEqual(begun, ['a', 'b'])
  for (let i = 0; i < 3; i++) queue.add('a')
  await flushTurns()
  assert.deepEqual(begun, ['a', 'b'], 'not twice at the same time')
  ;(await next()).end()
  await flushTurns()
  assert.deepEqual(begun, ['a', 'b', 'a'])
})

test('no more at a time than was said, and all of them', async () => {
  let running = 0
  let most = 0
  const done: string[] = []
  const { queue } = setUp({
    concurrency: 3,
    work: async (key) => {
      running += 1
      most = Math.max(most, running)
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
  assert.equal(most, 3)
})

test('what fails comes again, each time after twice as long up to a limit, until it succeeds', async () => {
  const { queue, timers, failures, next, begun } = setUp()
  queue.add('a')
  for (let i = 0; i < 6; i++) {
    ;(await next()).fail(new Error('no'))
    await flushTurns()
    assert.equal(begun.length, i + 1)
    await timers.advance(failures[i]?.againMs ?? 0)
  }
  assert.deepEqual(
    failures.map(({ againMs }) => againMs),
    [100, 200, 400, 800, 1000, 1000],
  )
  ;(await next()).end()
  await flushTurns()
  queue.add('a')
  ;(await next()).fail(new Error('no'))
  await flushTurns()
  assert.equal(failures.at(-1)?.againMs, 100, 'success is the end of it')
})

test('many that fail together do not come again together', async () => {
  const { queue, failures, open } = setUp({ concurrency: 50, random: Math.random })
  for (let i = 0; i < 50; i++) queue.add(`k${i}`)
  await flushTurns()
  for (const { fail } of open) fail(new Error('no'))
  await flushTurns()
  const delays = failures.map(({ againMs }) => againMs)
  assert.ok(new Set(delays).size > 40)
  assert.ok(delays.every((ms) => ms >= 75 && ms <= 100))
})

test('a change does not wait for the time of a retry', async () => {
  const { queue, timers, next, begun } = setUp()
  queue.add('a')
  ;(await next()).fail(new Error('no'))
  await flushTurns()
  queue.add('a')
  await flushTurns()
  assert.equal(begun.length, 2)
  ;(await next()).end()
  await timers.advance(10_000)
  assert.equal(begun.length, 2, 'the retry is not made on top')
})

test('what fails because of what it writes itself does not spin', async () => {
  const { queue, timers, next, begun } = setUp()
  queue.add('a')
  const first = await next()
  queue.add('a')
  first.fail(new Error('no'))
  await flushTurns()
  assert.equal(begun.length, 1)
  await timers.advance(100)
  assert.equal(begun.length, 2)
})

test('work can ask for another time, and the earlier one counts', async () => {
  const { queue, timers, begun } = setUp({ work: async (key) => (begun.push(key) === 1 ? { afterMs: 500 } : undefined) })
  queue.addAfter('a', 300)
  queue.addAfter('a', 200)
  queue.addAfter('a', 900)
  await timers.advance(199)
  assert.equal(begun.length, 0)
  await timers.advance(1)
  assert.equal(begun.length, 1)
  await timers.advance(499)
  assert.equal(begun.length, 1)
  await timers.advance(1)
  assert.equal(begun.length, 2)
  assert.equal(timers.size, 0, 'nothing is left that would cost anything')
})

test('there is a bound, and whoever is not taken is told of', async () => {
  const { queue, overflows, next, begun } = setUp({ mostKeys: 4 })
  queue.add('running')
  await flushTurns()
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) queue.add(key)
  assert.deepEqual(overflows, [0, 0])
  assert.equal(queue.hasRoom, false)
  let hasRoom = false
  void queue.room().then(() => {
    hasRoom = true
  })
  ;(await next()).end()
  await flushTurns()
  assert.equal(hasRoom, false, 'not for one key alone')
  ;(await next()).end()
  await flushTurns()
  assert.equal(hasRoom, true)
  for (const _ of ['b', 'c', 'd']) (await next()).end()
  await flushTurns()
  assert.deepEqual(begun, ['running', 'a', 'b', 'c', 'd'])
})

test('what waits for its time is bounded, too, and does not keep others out', async () => {
  const { queue, overflows, begun } = setUp({ mostKeys: 2 })
  for (const key of ['a', 'b', 'c']) queue.addAfter(key, 700)
  assert.deepEqual(overflows, [700])
  queue.add('d')
  await flushTurns()
  assert.deepEqual(begun, ['d'])
})

test('closing waits for what runs, and nothing starts afterwards', async () => {
  const { queue, timers, next, begun } = setUp()
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
  assert.deepEqual(begun, ['a'])
  assert.equal(timers.size, 0)
})

test('requests get their turn while there is much to do', async () => {
  let turns = 0
  let most = 0
  let inTurn = 0
  const count = (): void => {
    turns += 1
    inTurn = 0
    if (turns < 500) setImmediate(count)
  }
  setImmediate(count)
  const { queue, timers, begun } = setUp({
    concurrency: 4,
    work: async (key) => {
      begun.push(key)
      inTurn += 1
      most = Math.max(most, inTurn)
      timers.spend(1)
      return undefined
    },
  })
  for (let i = 0; i < 200; i++) queue.add(`k${i}`)
  for (let i = 0; i < 20 && begun.length < 200; i++) await flushTurns()
  assert.equal(begun.length, 200)
  assert.ok(most <= 6, `${most} ms in one turn`)
})

test('counters tell what was asked for, how long it waited and took, and how often it came again', async () => {
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
  assert.equal(counters.worked.counts[durationBounds.length - 1], 1, 'two seconds are at most ten')
  await queue.close()
  assert.deepEqual(counters.state(), { depth: 0, unfinishedSeconds: 0, longestRunningSeconds: 0 })
})

test('it says when there is nothing to do, and does what was put off when it is told to hurry', async () => {
  const { queue, begun, next } = setUp()
  assert.equal(queue.isIdle, true)
  queue.addAfter('soon', 300)
  queue.addAfter('late', 5000)
  assert.equal(queue.isIdle, true)
  queue.hurry(1000)
  assert.equal(queue.isIdle, false)
  ;(await next()).end()
  await flushTurns()
  assert.equal(queue.isIdle, true)
  assert.deepEqual(begun, ['soon'])
})
