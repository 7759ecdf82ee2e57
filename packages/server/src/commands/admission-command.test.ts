// Differences between documents in the output of admission replay.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeChanges } from './admission-command.js'

const rows: readonly (readonly [string, unknown, unknown, readonly string[]])[] = [
  ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ['a value', { a: { b: 1 } }, { a: { b: 2 } }, ['~ /a/b: 1 -> 2']],
  ['members', { a: 1, c: 3 }, { a: 1, b: { x: 'y' } }, ['- /c: 3', '+ /b: {"x":"y"}']],
  ['a name with a slash', { a: {} }, { a: { 'x.io/y': 'z' } }, ['+ /a/x.io~1y: "z"']],
  ['an inserted item', { a: [1, 2, 3] }, { a: [1, 9, 2, 3] }, ['+ /a/1: 9']],
  ['a removed item', [1, 2, 3], [1, 3], ['- /1: 2']],
  ['a changed item', [{ n: 1, v: 1 }], [{ n: 1, v: 2 }], ['~ /0/v: 1 -> 2']],
  ['the whole document', 'a', null, ['~ /: "a" -> null']],
]

for (const [title, before, after, lines] of rows)
  test(`difference: ${title}`, () => assert.deepEqual(describeChanges(before, after), lines))

test('long values are truncated', () => {
  const [line = ''] = describeChanges({}, { a: 'x'.repeat(10_000) })
  assert.ok(line.length < 300)
})
