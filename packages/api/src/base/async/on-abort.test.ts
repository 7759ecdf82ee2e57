// One listener at a signal, however many wait for it.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { onAbort } from './on-abort.js'

test('all that listen are told, but for those that left', () => {
  const controller = new AbortController()
  const heard: number[] = []
  const leaves = Array.from({ length: 20 }, (_, i) => onAbort(controller.signal, () => heard.push(i)))
  for (const leave of leaves.slice(0, 18)) leave()
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
  controller.abort()
  controller.abort()
  assert.deepEqual(heard, [18, 19])
})

test('when all have left the signal is as it was, and others may come', () => {
  const controller = new AbortController()
  const leave = onAbort(controller.signal, () => assert.fail())
  onAbort(controller.signal, () => assert.fail())()
  leave()
  leave()
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  let calls = 0
  onAbort(controller.signal, () => calls++)
  leave()
  controller.abort()
  assert.equal(calls, 1)
})

test('one function may listen twice, and leave once', () => {
  const controller = new AbortController()
  let calls = 0
  const hear = (): number => calls++
  onAbort(controller.signal, hear)
  onAbort(controller.signal, hear)()
  controller.abort()
  assert.equal(calls, 1)
})
