// Tests of onAbort: callers share one listener of a signal; removed listeners are not called.

import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'
import { onAbort } from './on-abort.js'

test('abort calls all listeners that were not removed', () => {
  const controller = new AbortController()
  const called: number[] = []
  const removers = Array.from({ length: 20 }, (_, i) => onAbort(controller.signal, () => called.push(i)))
  for (const remove of removers.slice(0, 18)) remove()
  assert.equal(getEventListeners(controller.signal, 'abort').length, 1)
  controller.abort()
  controller.abort()
  assert.deepEqual(called, [18, 19])
})

test('removing the last listener detaches from the signal, and later listeners attach again', () => {
  const controller = new AbortController()
  const remove = onAbort(controller.signal, () => assert.fail())
  onAbort(controller.signal, () => assert.fail())()
  remove()
  remove()
  assert.equal(getEventListeners(controller.signal, 'abort').length, 0)
  let calls = 0
  onAbort(controller.signal, () => calls++)
  remove()
  controller.abort()
  assert.equal(calls, 1)
})
