// Silence counts from the first word on, in the time that it is given.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Silence } from './silence.js'

test('a thread that is being started is not silent; who has others beside him has a smaller share than who is alone', () => {
  let now = 0
  const silence = new Silence(() => now)
  silence.begin()
  now = 100_000
  assert.equal(silence.isTooLong(false), false)
  silence.end()
  now += 2001
  assert.deepEqual([silence.isTooLong(false), silence.isTooLong(true)], [true, false])
  now += 4000
  assert.equal(silence.isTooLong(true), true)
  // It had nothing to do meanwhile.
  silence.begin()
  assert.equal(silence.isTooLong(false), false)
})

test('one that was asked is asked again when it has said something', () => {
  let asked = 0
  const silence = new Silence(() => 0)
  const ask = (): void => silence.ask(() => void asked++)
  ask()
  ask()
  assert.equal(asked, 1)
  silence.end()
  ask()
  assert.equal(asked, 2)
})
