// The rule of `npm run linear`, on times that are made up: what is found, and what a disturbed machine does not make a finding.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timed } from './measure.js'
import { judge, sizesUpTo } from './rule.js'

const sizes = sizesUpTo(3 << 20, 1024)

/** Takes what the function says, the sample after the given number of disturbed ones. */
function timed(bytes: number, msOf: (bytes: number) => number, disturbed: () => number = () => 1): Timed {
  let least = Number.POSITIVE_INFINITY
  return {
    bytes,
    get ms() {
      return least
    },
    sample() {
      least = Math.min(least, msOf(bytes) * disturbed())
    },
  }
}

const isBroken = (msOf: (bytes: number) => number, disturbed?: () => number): boolean =>
  judge(sizes, (bytes) => timed(bytes, msOf, disturbed)).broken !== undefined

test('sizes go down from the largest by halves', () => {
  assert.deepEqual(sizesUpTo(8192, 1024), [1024, 2048, 4096, 8192])
  assert.equal(sizes[0], 1536)
  assert.equal(sizes.at(-1), 3 << 20)
})

test('what grows faster than the rule is found', () => {
  assert.ok(isBroken((n) => n ** 2 / 1e6))
  assert.ok(
    isBroken((n) => n ** 1.4 / 1e4),
    'two and a half times and a little more',
  )
  assert.ok(
    isBroken((n) => n / 1e4 + n ** 2 / 1e9),
    'only the largest inputs',
  )
  assert.ok(
    isBroken((n) => (n > 1e6 ? n : n / 10) / 1e3),
    'another way for long inputs',
  )
})

test('what is linear, or nearly so, is not', () => {
  assert.ok(!isBroken((n) => n / 1e4))
  assert.ok(!isBroken((n) => (n * Math.log2(n)) / 1e5))
  assert.ok(!isBroken((n) => (n > 1e5 ? n * 2 : n) / 1e4), 'a step')
  assert.ok(!isBroken((n) => n ** 2 / 1e15), 'too quick to be seen')
})

test('a disturbed machine makes no finding and hides none', () => {
  let count = 0
  const disturbed = (): number => (count++ % 5 === 0 ? 1.8 : 1)
  assert.ok(!isBroken((n) => n / 1e4, disturbed))
  assert.ok(isBroken((n) => n ** 1.45 / 1e4, disturbed))
})

test('the worst is the average of four doublings', () => {
  assert.ok(Math.abs(judge(sizes, (bytes) => timed(bytes, (n) => n / 1e3)).worst - 2) < 0.001)
})
