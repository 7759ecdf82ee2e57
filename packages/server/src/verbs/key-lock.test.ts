// Key locks: exclusive per key, with a timeout.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyLocks } from './key-lock.js'

test('locks of one key are held one after the other, and are forgotten when released', async () => {
  const locks = new KeyLocks(60_000)
  const order: string[] = []
  const run = async (key: string, name: string): Promise<void> => {
    const { acquired, release } = locks.acquire(key)
    await acquired
    order.push(`${name} begins`)
    await new Promise(setImmediate)
    order.push(`${name} ends`)
    release()
  }
  assert.equal(locks.isLocked('a'), false)
  const all = [run('a', '1'), run('a', '2'), run('a', '3')]
  assert.equal(locks.isLocked('a'), true)
  assert.equal(locks.isLocked('b'), false)
  await Promise.all(all)
  assert.deepEqual(order, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends'])
  await new Promise(setImmediate)
  assert.equal(locks.isLocked('a'), false)
})

test('a lock expires, and a lock released before it was acquired does not release another', async () => {
  const locks = new KeyLocks(1)
  const first = locks.acquire('a')
  await first.acquired
  const second = locks.acquire('a')
  second.release()
  const third = locks.acquire('a')
  await third.acquired
  third.release()
  await new Promise(setImmediate)
  assert.equal(locks.isLocked('a'), false)
})
