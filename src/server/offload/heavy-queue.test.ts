// Who waits for the thread for heavy requests, for how many there is room, and whose turn it is.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mastersGroup } from '../../api/user.js'
import { HeavyQueue, type Waiting } from './heavy-queue.js'

interface Job extends Waiting {
  readonly id: string
}

interface Options {
  readonly groups: readonly string[]
  readonly isWanted: () => boolean
}

const job = (name: string, id: string, { groups = [], isWanted = () => true }: Partial<Options> = {}): Job => ({
  user: { name, uid: '', groups, extra: {} },
  id: name + id,
  isWanted,
})

const queueOf = (total: number, ofOneUser: number): { readonly queue: HeavyQueue<Job>; readonly dropped: string[] } => {
  const dropped: string[] = []
  return { queue: new HeavyQueue<Job>({ total, ofOneUser }, ({ id }) => void dropped.push(id)), dropped }
}

test('users have their turns one after the other, each in the order in which they came', () => {
  const { queue } = queueOf(10, 5)
  for (const id of ['1', '2', '3']) assert.ok(queue.add(job('a', id)))
  assert.ok(queue.add(job('b', '1')))
  assert.deepEqual(
    Array.from({ length: 5 }, () => queue.next()?.id),
    ['a1', 'b1', 'a2', 'a3', undefined],
  )
})

test('whether somebody else waits', () => {
  const { queue } = queueOf(10, 5)
  const own = job('a', '1')
  assert.equal(queue.hasOther(own.user), false)
  queue.add(own)
  assert.equal(queue.hasOther(own.user), false)
  queue.add(job('b', '1'))
  assert.equal(queue.hasOther(own.user), true)
})

test('one user has room for some, all together for more, and masters always', () => {
  const { queue } = queueOf(3, 2)
  assert.ok(queue.add(job('a', '1')))
  assert.ok(queue.add(job('a', '2')))
  assert.equal(queue.add(job('a', '3')), false)
  assert.ok(queue.add(job('b', '1')))
  assert.equal(queue.add(job('c', '1')), false)
  for (let i = 0; i < 5; i++) assert.ok(queue.add(job('admin', String(i), { groups: [mastersGroup] })))
  assert.equal(queue.next()?.id, 'a1')
  assert.ok(queue.add(job('c', '1')), 'masters take nobody the room')
})

test('what nobody wants any more is not carried out, and makes room', () => {
  const { queue, dropped } = queueOf(2, 2)
  const gone = { isWanted: () => false }
  assert.ok(queue.add(job('a', '1', gone)))
  assert.ok(queue.add(job('a', '2')))
  assert.ok(queue.add(job('b', '1')))
  assert.deepEqual(dropped, ['a1'])
  const { queue: other, dropped: skipped } = queueOf(4, 4)
  assert.ok(other.add(job('a', '1', gone)))
  assert.ok(other.add(job('b', '1', gone)))
  assert.ok(other.add(job('c', '1')))
  assert.equal(other.next()?.id, 'c1')
  assert.deepEqual(skipped, ['a1', 'b1'])
  assert.deepEqual(other.clear(), [])
})

test('ten times as many as may wait: as many as may wait, of many users and of one', () => {
  const { queue } = queueOf(32, 8)
  const tried = Array.from({ length: 320 }, (_, i) => queue.add(job(`user-${i % 40}`, String(i))))
  assert.equal(tried.filter(Boolean).length, 32)
  const { queue: another } = queueOf(32, 8)
  assert.equal(Array.from({ length: 80 }, (_, i) => another.add(job('greedy', String(i)))).filter(Boolean).length, 8)
  assert.ok(another.add(job('modest', '1')))
})
