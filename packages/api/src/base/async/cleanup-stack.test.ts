// Tests of CleanupStack: order and failures of cleanup steps.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CleanupStack } from './cleanup-stack.js'

test('close runs the steps once and sequentially, in reverse order, also when called twice', async () => {
  const stack = new CleanupStack()
  const order: string[] = []
  let release = (): void => undefined
  const blocked = new Promise<void>((resolve) => {
    release = resolve
  })
  stack.add(() => order.push('store'))
  stack.add(async () => {
    order.push('port begins')
    await blocked
    order.push('port ends')
  })
  const both = [stack.close(), stack.close()]
  await new Promise(setImmediate)
  assert.deepEqual(order, ['port begins'])
  release()
  await Promise.all(both)
  assert.deepEqual(order, ['port begins', 'port ends', 'store'])
})

test('a failing step does not skip the others, and every call of close rejects', async () => {
  const stack = new CleanupStack()
  let isClosed = false
  stack.add(() => {
    isClosed = true
  })
  stack.add(() => Promise.reject(new Error('no')))
  await assert.rejects(stack.close(), /no/)
  await assert.rejects(stack.close(), /no/)
  assert.ok(isClosed)
})
