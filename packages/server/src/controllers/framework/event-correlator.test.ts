// Event correlation: counting, rate limit per object, aggregation of similar messages.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventCorrelator } from './event-correlator.js'

const occurrence = { subject: 's', type: 'Normal', reason: 'NoPods', message: 'No matching pods found' }

test('a repeated event increments the count of its series', () => {
  const events = new EventCorrelator()
  const first = events.add(occurrence, 1000)
  assert.ok(first)
  first.name = 'e1'
  const second = events.add(occurrence, 5000)
  assert.deepEqual([second?.name, second?.count, second?.firstMs], ['e1', 2, 1000])
  const other = events.add({ ...occurrence, message: 'another' }, 5000)
  assert.deepEqual([other?.name, other?.count], ['', 1])
})

test('an object has a burst of 25 events, then one every five minutes; other objects are not affected', () => {
  const events = new EventCorrelator()
  const isRecorded = (nowMs: number): boolean => events.add(occurrence, nowMs) !== undefined
  assert.equal(Array.from({ length: 100 }, () => isRecorded(0)).filter(Boolean).length, 25)
  assert.ok(events.add({ ...occurrence, subject: 'other' }, 0))
  assert.equal(isRecorded(299_999), false)
  assert.deepEqual([isRecorded(300_000), isRecorded(300_000)], [true, false])
  // A clock that goes back delays the next event by at most one refill.
  assert.equal(isRecorded(-1_000_000), false)
  assert.equal(isRecorded(-700_000), true)
  assert.equal(Array.from({ length: 100 }, () => isRecorded(1e12)).filter(Boolean).length, 25, 'the burst is the maximum')
})

test('events that differ in their message only are combined after nine', () => {
  const events = new EventCorrelator()
  const messages = Array.from({ length: 12 }, (_, i) => events.add({ ...occurrence, message: `pod ${i}` }, i)?.message)
  assert.deepEqual(messages.slice(8), [
    'pod 8',
    '(combined from similar events): pod 9',
    '(combined from similar events): pod 10',
    '(combined from similar events): pod 11',
  ])
  assert.equal(events.add({ ...occurrence, message: 'later' }, 600_012)?.message, 'later', 'after ten minutes they are separate again')
})
