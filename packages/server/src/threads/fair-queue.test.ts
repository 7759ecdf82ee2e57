// The queue of the worker threads: fair between users by used time, limited by bytes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FairQueue, type QueuedTask } from './fair-queue.js'

const limits = { maxBytes: 100, maxUserBytes: 50, maxUserRunning: 1 }
const task = (user: string, bytes = 1): QueuedTask => ({ user, bytes })

/** Runs all tasks; each uses one millisecond of its user's time. */
function takeAll(queue: FairQueue<QueuedTask>): string {
  let users = ''
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    users += next.user
    queue.end(next.user, 1)
  }
  return users
}

test('users alternate, however many tasks one of them has', () => {
  const queue = new FairQueue(limits)
  for (let i = 0; i < 5; i++) queue.add(task('a'))
  for (let i = 0; i < 2; i++) queue.add(task('b'))
  assert.equal(takeAll(queue), 'ababaaa')
  assert.equal(queue.bytes, 0)
})

test('a user whose tasks take long waits for one whose tasks are short', () => {
  const queue = new FairQueue(limits)
  for (const user of ['a', 'b']) for (let i = 0; i < 3; i++) queue.add(task(user))
  assert.equal(queue.take()?.user, 'a')
  queue.end('a', 100)
  assert.equal(takeAll(queue), 'bbbaa')
})

test('a new user does not make up for time that others used before', () => {
  const queue = new FairQueue(limits)
  for (let i = 0; i < 10; i++) queue.add(task('a'))
  for (let i = 0; i < 5; i++) {
    queue.take()
    queue.end('a', 10)
  }
  for (let i = 0; i < 10; i++) queue.add(task('b'))
  const users = takeAll(queue)
  assert.ok(users.slice(0, 20).startsWith('b') && users.includes('a'))
  assert.ok(users.indexOf('a') <= 10, users)
})

test('the queue is limited in total and per user', () => {
  const queue = new FairQueue(limits)
  assert.equal(queue.add(task('a', 40)), true)
  assert.equal(queue.add(task('a', 11)), false)
  assert.equal(queue.add(task('b', 50)), true)
  assert.equal(queue.add(task('c', 11)), false)
  assert.equal(queue.add(task('c', 10)), true)
  assert.equal(queue.bytes, 100)
  takeAll(queue)
  assert.equal(queue.add(task('a', 1000)), true, 'a single task always fits into an empty queue')
})

test('one user never occupies all threads', () => {
  const queue = new FairQueue(limits)
  for (const user of ['a', 'a', 'b']) queue.add(task(user))
  assert.equal(queue.take()?.user, 'a')
  assert.equal(queue.take()?.user, 'b')
  assert.equal(queue.take(), undefined)
  queue.end('a', 1)
  assert.equal(queue.take()?.user, 'a')
})

test('a removed task frees its bytes and is not run', () => {
  const queue = new FairQueue(limits)
  const removed = task('a', 50)
  queue.add(removed)
  assert.equal(queue.remove(removed), true)
  assert.equal(queue.remove(removed), false)
  assert.equal(queue.bytes, 0)
  assert.equal(queue.take(), undefined)
})
