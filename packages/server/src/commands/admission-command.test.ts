// Differences between documents, as people read them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeChanges } from './describe-changes.js'

const rows: readonly (readonly [string, unknown, unknown, readonly string[]])[] = [
  ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['~ /a/b: 1 -> 2']],
  ['members', { a: 1, c: 3 }, { a: 1, b: { x: 'y' } }, ['- /c: 3', '+ /b: {"x":"y"}']],
  ['a name with a slash', { a: {} }, { a: { 'x.io/y': 'z' } }, ['+ /a/x.io~1y: "z"']],
  ['an item in between', { a: [1, 2, 3] }, { a: [1, 9, 2, 3] }, ['+ /a/1: 9']],
  ['an item that is gone', [1, 2, 3], [1, 3], ['- /1: 2']],
  ['an item that is another', [{ n: 1, v: 1 }], [{ n: 1, v: 2 }], ['~ /0/v: 1 -> 2']],
  ['all of it', 'a', null, ['~ /: "a" -> null']],
]

for (const [title, before, after, lines] of rows)
  test(`what is different: ${title}`, () => assert.deepEqual(describeChanges(before, after), lines))

test('long values are shown by their beginning', () => {
  const [line = ''] = describeChanges({}, { a: 'x'.repeat(10_000) })
  assert.ok(line.length < 300)
})
