// What was opened is closed in the opposite order, once, whoever asks for it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Closing } from './closing.js'

test('steps run in the opposite order, each when the one before has ended, however often it is called', async () => {
  const closing = new Closing()
  const order: string[] = []
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  closing.add(() => order.push('store'))
  closing.add(async () => {
    order.push('port begins')
    await held
    order.push('port ends')
  })
  const both = [closing.close(), closing.close()]
  await new Promise(setImmediate)
  assert.deepEqual(order, ['port begins'])
  release()
  await Promise.all(both)
  assert.deepEqual(order, ['port begins', 'port ends', 'store'])
})

test('a step that fails does not keep the others from running, and everybody is told', async () => {
  const closing = new Closing()
  let isClosed = false
  closing.add(() => {
    isClosed = true
  })
  closing.add(() => Promise.reject(new Error('no')))
  await assert.rejects(closing.close(), /no/)
  await assert.rejects(closing.close(), /no/)
  assert.ok(isClosed)
})
