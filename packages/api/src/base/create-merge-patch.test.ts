// Tests of merge patches between two objects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createMergePatch } from './create-merge-patch.js'

test('the patch has changed, added and removed members, and nothing else', () => {
  const before = { a: 1, b: { c: [1, 2], d: 'x' }, e: { f: 1 }, g: [1] }
  assert.equal(createMergePatch(before, structuredClone(before)), undefined)
  assert.deepEqual(createMergePatch(before, { a: 1, b: { c: [1], d: 'x', n: { o: null } }, g: [1] }), {
    e: null,
    b: { c: [1], n: { o: null } },
  })
  assert.deepEqual(createMergePatch(before, { ...before, a: { deep: true }, e: 'flat' }), { a: { deep: true }, e: 'flat' })
})

test('bigints are compared by value', () => {
  const before = { big: 9007199254740993n, list: [{ big: 1n, other: [] }] }
  assert.equal(createMergePatch(before, { big: 9007199254740993n, list: [{ big: 1n, other: [] }] }), undefined)
  assert.deepEqual(createMergePatch(before, { big: 9007199254740994n, list: [{ big: 2n, other: [] }] }), {
    big: 9007199254740994n,
    list: [{ big: 2n, other: [] }],
  })
  for (const other of [[{ big: 1n }], [{ big: 1n, other: {} }], [{ big: 1n, other: [] }, 1], 'x', null])
    assert.deepEqual(createMergePatch(before, { ...before, list: other }), { list: other })
})
