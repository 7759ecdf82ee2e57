// A list in chunks does what a plain one does, wherever it is written to.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LongList, longLength } from './long-list.js'

/** Numbers that look random, the same ones each time. */
function* numbers(): Generator<number, never> {
  for (let state = 1; ; ) {
    state = (state * 48_271) % 2_147_483_647
    yield state
  }
}

test('random insertions, removals and replacements', () => {
  const random = numbers()
  const plain: unknown[] = Array.from({ length: longLength + 100 }, (_, i) => i)
  const long = new LongList(plain)
  for (let i = 0; i < 30_000; i++) {
    const isInsert = random.next().value % 3 > 0
    const position = random.next().value % (plain.length + (isInsert ? 1 : 0))
    if (isInsert) {
      plain.splice(position, 0, i)
      long.insert(position, i)
    } else if (i % 2 === 0) {
      plain.splice(position, 1)
      long.remove(position)
    } else {
      plain[position] = -i
      long.set(position, -i)
    }
    assert.equal(long.length, plain.length)
    const look = random.next().value % plain.length
    assert.equal(long.get(look), plain[look])
  }
  assert.deepEqual(long.items(), plain)
})

test('an array in a list stays one item, and a list may become empty', () => {
  const long = new LongList([[1, [2]]])
  assert.deepEqual(long.items(), [[1, [2]]])
  long.remove(0)
  assert.deepEqual(long.items(), [])
  long.insert(0, 'a')
  assert.deepEqual(long.items(), ['a'])
  assert.deepEqual(new LongList([]).items(), [])
})
