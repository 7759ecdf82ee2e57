// The patch that an editor's changes become.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mergeDifference } from './merge-difference.js'

test('what was changed, added and removed, and nothing else', () => {
  const before = { a: 1, b: { c: [1, 2], d: 'x' }, e: { f: 1 }, g: [1] }
  assert.equal(mergeDifference(before, structuredClone(before)), undefined)
  assert.deepEqual(mergeDifference(before, { a: 1, b: { c: [1], d: 'x', n: { o: null } }, g: [1] }), {
    e: null,
    b: { c: [1], n: { o: null } },
  })
  assert.deepEqual(mergeDifference(before, { ...before, a: { deep: true }, e: 'flat' }), { a: { deep: true }, e: 'flat' })
})

test('numbers that JSON cannot say are compared as well', () => {
  const before = { big: 9007199254740993n, list: [{ big: 1n, other: [] }] }
  assert.equal(mergeDifference(before, { big: 9007199254740993n, list: [{ big: 1n, other: [] }] }), undefined)
  assert.deepEqual(mergeDifference(before, { big: 9007199254740994n, list: [{ big: 2n, other: [] }] }), {
    big: 9007199254740994n,
    list: [{ big: 2n, other: [] }],
  })
  for (const other of [[{ big: 1n }], [{ big: 1n, other: {} }], [{ big: 1n, other: [] }, 1], 'x', null])
    assert.deepEqual(mergeDifference(before, { ...before, list: other }), { list: other })
})
