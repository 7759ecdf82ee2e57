// Tests of the linearity rule with synthetic times: superlinear growth is reported, noise is not.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TimedShape } from './measure.js'
import { judge, sizesUpTo } from './rule.js'

const sizes = sizesUpTo(3 << 20, 1024)

/** Returns the time of the function, after a number of disturbed samples. */
function timed(bytes: number, msOf: (bytes: number) => number, disturbed: () => number = () => 1): TimedShape {
  let minMs = Number.POSITIVE_INFINITY
  return {
    bytes,
    get ms() {
      return minMs
    },
    sample() {
      minMs = Math.min(minMs, msOf(bytes) * disturbed())
    },
  }
}

const isBroken = (msOf: (bytes: number) => number, disturbed?: () => number): boolean =>
  judge(sizes, (bytes) => timed(bytes, msOf, disturbed)).broken !== undefined

test('sizes are halved from the largest', () => {
  assert.deepEqual(sizesUpTo(8192, 1024), [1024, 2048, 4096, 8192])
  assert.equal(sizes[0], 1536)
  assert.equal(sizes.at(-1), 3 << 20)
})

test('superlinear growth is reported', () => {
  assert.ok(isBroken((n) => n ** 2 / 1e6))
  assert.ok(
    isBroken((n) => n ** 1.4 / 1e4),
    'slightly more than 2.5 times',
  )
  assert.ok(
    isBroken((n) => n / 1e4 + n ** 2 / 1e9),
    'only the largest inputs',
  )
  assert.ok(
    isBroken((n) => (n > 1e6 ? n : n / 10) / 1e3),
    'another algorithm for long inputs',
  )
})

test('linear and almost linear growth is not reported', () => {
  assert.ok(!isBroken((n) => n / 1e4))
  assert.ok(!isBroken((n) => (n * Math.log2(n)) / 1e5))
  assert.ok(!isBroken((n) => (n > 1e5 ? n * 2 : n) / 1e4), 'a step')
  assert.ok(!isBroken((n) => n ** 2 / 1e15), 'below the resolution of the clock')
})

test('noise causes no report and hides none', () => {
  let count = 0
  const disturbed = (): number => (count++ % 5 === 0 ? 1.8 : 1)
  assert.ok(!isBroken((n) => n / 1e4, disturbed))
  assert.ok(isBroken((n) => n ** 1.45 / 1e4, disturbed))
})

test('the worst factor is the average of four doublings', () => {
  assert.ok(Math.abs(judge(sizes, (bytes) => timed(bytes, (n) => n / 1e3)).worst - 2) < 0.001)
})
