// One timer for many that have equally long.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Deadlines } from './deadlines.js'

test('what is not deleted in time is told of once, in the order in which it was added, and under one timer', (context) => {
  let nowMs = 0
  context.mock.method(performance, 'now', () => nowMs)
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const pass = (ms: number): void => {
    nowMs += ms
    context.mock.timers.tick(ms)
  }
  const expired: string[] = []
  const deadlines = new Deadlines<{ readonly name: string }>(100, ({ name }) => expired.push(name))
  const [first, second, third] = [{ name: 'first' }, { name: 'second' }, { name: 'third' }]
  deadlines.add(first)
  pass(40)
  deadlines.add(second)
  deadlines.add(third)
  pass(59)
  assert.deepEqual(expired, [])
  pass(1)
  assert.deepEqual(expired, ['first'])
  deadlines.delete(second)
  pass(40)
  assert.deepEqual(expired, ['first', 'third'])
  // Whoever comes after a pause has all of its time.
  pass(1000)
  deadlines.add(second)
  pass(99)
  assert.deepEqual(expired, ['first', 'third'])
  pass(1)
  assert.deepEqual(expired, ['first', 'third', 'second'])
})
