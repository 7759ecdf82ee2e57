// Tests of the queue of pods: order, back-off, waiting for changes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchedulingQueue } from './scheduling-queue.js'

function start() {
  const time = { nowMs: 0 }
  const queue = new SchedulingQueue(() => time.nowMs)
  const takeAll = (): readonly string[] => {
    queue.release()
    const keys: string[] = []
    for (let key = queue.take(); key !== undefined; key = queue.take()) keys.push(key)
    return keys
  }
  return { time, queue, takeAll }
}

test('takes the highest priority first, then the first that came', () => {
  const { queue, takeAll } = start()
  for (const [key, priority] of [
    ['a', 0],
    ['b', 5],
    ['c', 0],
    ['d', 9],
    ['e', 5],
  ] as const)
    queue.add(key, priority)
  queue.remove('c')
  assert.deepEqual(takeAll(), ['d', 'b', 'e', 'a'])
})

test('a pod that failed waits for a change and for its back-off, which doubles up to 10 s', () => {
  const { time, queue, takeAll } = start()
  queue.add('a', 0)
  for (const backOffMs of [1000, 2000, 4000, 8000, 10_000, 10_000]) {
    assert.deepEqual(takeAll(), ['a'])
    queue.fail('a', new Set(['NodeResourcesFit']))
    queue.wake('a')
    assert.equal(queue.nextReleaseMs, backOffMs)
    time.nowMs += backOffMs - 1
    assert.deepEqual(takeAll(), [])
    time.nowMs += 1
  }
})

test('without a change it is tried again after 5 minutes', () => {
  const { time, queue, takeAll } = start()
  queue.add('a', 0)
  takeAll()
  queue.fail('a', new Set())
  time.nowMs += 299_999
  assert.deepEqual(takeAll(), [])
  time.nowMs += 1
  assert.deepEqual(takeAll(), ['a'])
})

test('a pod that waited longer than its back-off is active at once', () => {
  const { time, queue } = start()
  queue.add('a', 0)
  queue.take()
  queue.fail('a', new Set())
  time.nowMs += 1000
  queue.wake('a')
  assert.equal(queue.take(), 'a')
})
