// The same event again is counted, many that are alike are told as one, and too many are not told.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventCorrelator } from './correlate-events.js'

const told = { subject: 's', type: 'Normal', reason: 'NoPods', message: 'No matching pods found' }

test('the same again is the same series, counted up', () => {
  const events = new EventCorrelator()
  const first = events.add(told, 1000)
  assert.ok(first)
  first.name = 'e1'
  const second = events.add(told, 5000)
  assert.deepEqual([second?.name, second?.count, second?.firstMs], ['e1', 2, 1000])
  const other = events.add({ ...told, message: 'another' }, 5000)
  assert.deepEqual([other?.name, other?.count], ['', 1])
})

test('who tells too much of one object is heard once in five minutes; others are heard', () => {
  const events = new EventCorrelator()
  const heard = (nowMs: number): boolean => events.add(told, nowMs) !== undefined
  assert.equal(Array.from({ length: 100 }, () => heard(0)).filter(Boolean).length, 25)
  assert.ok(events.add({ ...told, subject: 'other' }, 0))
  assert.equal(heard(299_999), false)
  assert.deepEqual([heard(300_000), heard(300_000)], [true, false])
  // A clock that goes back does not silence anybody for longer than that.
  assert.equal(heard(-1_000_000), false)
  assert.equal(heard(-700_000), true)
  assert.equal(Array.from({ length: 100 }, () => heard(1e12)).filter(Boolean).length, 25, 'and no more are saved up')
})

test('many that differ only in what they say are told as one', () => {
  const events = new EventCorrelator()
  const messages = Array.from({ length: 12 }, (_, i) => events.add({ ...told, message: `pod ${i}` }, i)?.message)
  assert.deepEqual(messages.slice(8), [
    'pod 8',
    '(combined from similar events): pod 9',
    '(combined from similar events): pod 10',
    '(combined from similar events): pod 11',
  ])
  assert.equal(events.add({ ...told, message: 'later' }, 600_012)?.message, 'later', 'after a while they are told one by one again')
})
