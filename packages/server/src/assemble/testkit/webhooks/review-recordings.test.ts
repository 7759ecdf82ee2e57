// Tests of the limits of recorded reviews.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ReviewRecordings } from './review-recordings.js'

const review = (i: number) => ({ kind: 'TokenReview', apiVersion: 'v1', spec: { token: `t${i}` } })

test('the last 1,000 reviews are kept', () => {
  const recordings = new ReviewRecordings()
  for (let i = 0; i < 1005; i++) recordings.add(review(i), 10)
  assert.equal(recordings.list.length, 1000)
  assert.deepEqual(recordings.list[0]?.review, review(5))
})

test('at most 16 MiB are kept, responses included', () => {
  const recordings = new ReviewRecordings()
  const mebibyte = 1 << 20
  const added = Array.from({ length: 16 }, (_, i) => recordings.add(review(i), mebibyte))
  assert.equal(recordings.list.length, 16)
  recordings.grow(added[15] as (typeof added)[number], mebibyte)
  assert.equal(recordings.list.length, 15)
  recordings.grow(added[0] as (typeof added)[number], mebibyte)
  assert.equal(recordings.list.length, 15, 'the response to a dropped review is not counted')
})
