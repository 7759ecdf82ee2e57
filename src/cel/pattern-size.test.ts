// How large patterns become, and what is too large.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mostWork, patternWork } from './call-work.js'
import { patternOf, workOfCompiling } from './pattern.js'
import { patternSize } from './pattern-size.js'

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
  test(`the size of ${pattern}`, () => {
    const size = patternSize(pattern)
    assert.ok(size >= least && size <= most, `${size}`)
  })
}

test('what a few bytes would make of the memory is refused', () => {
  const refused = patternOf('a{1000}b{1000}'.repeat(400))
  assert.ok(refused instanceof Error)
  assert.equal(refused.message, 'error parsing regexp: expression too large')
  assert.ok(!(patternOf('^[a-z]{1,1000}(-[a-z]{1,1000})?$') instanceof Error))
})

test('what takes long to compile is known to be work before it is compiled, and none once it is kept', () => {
  const pattern = 'x{1000}y{1000}'
  assert.ok(workOfCompiling(pattern) > mostWork)
  assert.ok(patternWork(pattern, 'x') > mostWork)
  assert.ok(workOfCompiling(pattern) > mostWork, 'it was compiled to find out')
  patternOf(pattern)
  assert.equal(workOfCompiling(pattern), 0)
})

test('large patterns take the places of others', () => {
  patternOf('kept')
  for (let i = 0; i < 8; i++) patternOf(`${'w{900}'.repeat(10)}${i}`)
  assert.ok(workOfCompiling('kept') > 0)
})
