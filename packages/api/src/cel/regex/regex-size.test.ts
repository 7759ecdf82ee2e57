// Tests of estimated sizes of regular expressions, limits by size, and eviction from the cache.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { maxBlockingNs, regexTimeNs } from '../cost/call-time.js'
import { compileRegex, regexCompileNs } from './regex.js'
import { regexSize } from './regex-size.js'

const sizes: readonly (readonly [pattern: string, least: number, most: number])[] = [
  ['', 0, 1],
  ['abc', 3, 4],
  ['a{1000}', 1000, 1001],
  ['a{2,500}b', 501, 502],
  ['a{2,}', 2, 3],
  ['(ab){10}c', 21, 60],
  ['((ab|c){10}){10}', 300, 1000],
  ['[a{1000}b]', 1, 2],
  ['\\{1000}', 6, 6],
  ['a{,5}', 5, 6],
  ['\\pL{20}', 20, 21],
  ['(((', 3, 6],
  [')))', 1, 8],
]

for (const [pattern, least, most] of sizes) {
  test(`regexSize of ${pattern}`, () => {
    const size = regexSize(pattern)
    assert.ok(size >= least && size <= most, `${size}`)
  })
}

test('expressions with too many instructions are rejected', () => {
  const rejected = compileRegex('a{1000}b{1000}'.repeat(400))
  assert.ok(rejected instanceof Error)
  assert.equal(rejected.message, 'error parsing regexp: expression too large')
  assert.ok(!(compileRegex('^[a-z]{1,1000}(-[a-z]{1,1000})?$') instanceof Error))
})

test('the compile time is estimated before compiling, and 0 once cached', () => {
  const pattern = 'x{1000}y{1000}'
  assert.ok(regexCompileNs(pattern) > maxBlockingNs)
  assert.ok(regexTimeNs(pattern, 'x') > maxBlockingNs)
  assert.ok(regexCompileNs(pattern) > maxBlockingNs, 'estimating must not compile')
  compileRegex(pattern)
  assert.equal(regexCompileNs(pattern), 0)
})

test('large expressions evict others from the cache', () => {
  compileRegex('small')
  for (let i = 0; i < 8; i++) compileRegex(`${'w{900}'.repeat(10)}${i}`)
  assert.ok(regexCompileNs('small') > 0)
})
