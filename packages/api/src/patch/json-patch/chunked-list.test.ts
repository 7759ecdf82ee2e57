// Random operations on a ChunkedList compared with an array.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChunkedList, minChunkedLength } from './chunked-list.js'

/** Deterministic pseudo-random numbers. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (state * 48_271) % 2_147_483_647
    yield state
  }
}

test('random insertions, removals and replacements agree with an array', () => {
  const random = numbers()
  const array: unknown[] = Array.from({ length: minChunkedLength + 100 }, (_, i) => i)
  const chunked = new ChunkedList(array)
  for (let i = 0; i < 30_000; i++) {
    const isInsert = random.next().value % 3 > 0
    const position = random.next().value % (array.length + (isInsert ? 1 : 0))
    if (isInsert) {
      array.splice(position, 0, i)
      chunked.insert(position, i)
    } else if (i % 2 === 0) {
      array.splice(position, 1)
      chunked.remove(position)
    } else {
      array[position] = -i
      chunked.set(position, -i)
    }
    assert.equal(chunked.length, array.length)
    const index = random.next().value % array.length
    assert.equal(chunked.get(index), array[index])
  }
  assert.deepEqual(chunked.items(), array)
})

test('nested arrays stay items, and the list may become empty', () => {
  const chunked = new ChunkedList([[1, [2]]])
  assert.deepEqual(chunked.items(), [[1, [2]]])
  chunked.remove(0)
  assert.deepEqual(chunked.items(), [])
  chunked.insert(0, 'a')
  assert.deepEqual(chunked.items(), ['a'])
  assert.deepEqual(new ChunkedList([]).items(), [])
})
