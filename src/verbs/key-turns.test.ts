// Turns follow one another for one key, others do not wait, and nobody waits for ever.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KeyTurns } from './key-turns.js'

test('turns at one key follow one another, and leave nothing behind', async () => {
  const turns = new KeyTurns(60_000)
  const order: string[] = []
  const run = async (key: string, name: string): Promise<void> => {
    const { begun, end } = turns.take(key)
    await begun
    order.push(`${name} begins`)
    await new Promise(setImmediate)
    order.push(`${name} ends`)
    end()
  }
  assert.equal(turns.areTaken('a'), false)
  const all = [run('a', '1'), run('a', '2'), run('a', '3')]
  assert.equal(turns.areTaken('a'), true)
  assert.equal(turns.areTaken('b'), false)
  await Promise.all(all)
  assert.deepEqual(order, ['1 begins', '1 ends', '2 begins', '2 ends', '3 begins', '3 ends'])
  await new Promise(setImmediate)
  assert.equal(turns.areTaken('a'), false)
})

test('nobody has the turn for ever, and one who goes before it began takes nobody his', async () => {
  const turns = new KeyTurns(1)
  const first = turns.take('a')
  await first.begun
  const second = turns.take('a')
  second.end()
  const third = turns.take('a')
  await third.begun
  third.end()
  await new Promise(setImmediate)
  assert.equal(turns.areTaken('a'), false)
})
