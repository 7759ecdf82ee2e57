// Sets of completion indexes: their text, union, and free indexes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countIndexes, firstFreeIndexes, hasIndex, parseIndexes, printIndexes, withIndexes } from './completion-indexes.js'

const rows: readonly (readonly [text: string, completions: number, printed: string, count: number])[] = [
  ['', 10, '', 0],
  ['0', 10, '0', 1],
  ['0,1', 10, '0,1', 2],
  ['0-2', 10, '0-2', 3],
  ['0,1,2,5,7-9', 10, '0-2,5,7-9', 7],
  ['3,1', 10, '1,3', 2],
  ['0-20', 5, '0-4', 5],
  ['7', 5, '', 0],
  ['x,1-,-2,3-1,4', 10, '4', 1],
]
for (const [text, completions, printed, count] of rows) {
  test(`completed indexes ${text} of ${completions}`, () => {
    const indexes = parseIndexes(text, completions)
    assert.equal(printIndexes(indexes), printed)
    assert.equal(countIndexes(indexes), count)
  })
}

test('added indexes merge with intervals; free indexes are the lowest ones', () => {
  const indexes = withIndexes(parseIndexes('1,4-5', 100), [2, 6, 2, 9])
  assert.equal(printIndexes(indexes), '1,2,4-6,9')
  assert.deepEqual(
    [0, 1, 2, 3, 6, 7, 9].map((index) => hasIndex(indexes, index)),
    [false, true, true, false, true, false, true],
  )
  assert.deepEqual(firstFreeIndexes(indexes, 4, 100), [0, 3, 7, 8])
  assert.deepEqual(firstFreeIndexes(indexes, 100, 8), [0, 3, 7])
  assert.deepEqual(firstFreeIndexes([], 3, 2), [0, 1])
})
