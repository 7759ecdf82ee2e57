// Tests of JSON patches created from two values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, jsonPatch } from '@cluster-apiserver/api/patch/json-patch/json-patch.js'
import { createJsonPatch } from './create-json-patch.js'

const cases: readonly (readonly [title: string, before: Json, after: Json, operations: number])[] = [
  ['equal values', { a: [1, { b: null }] }, { a: [1, { b: null }] }, 0],
  ['added, changed and removed members', { a: 1, b: { c: 2 }, d: 3 }, { a: 1, b: { c: 4 }, e: 5 }, 3],
  ['names with / and ~', { 'a/b': 1, '~1': 1 }, { 'a/b': 2, '~0/': 3 }, 3],
  ['null is a value', { a: 1 }, { a: null }, 1],
  ['an item of a list', { list: [1, { a: 1 }, 3] }, { list: [1, { a: 2 }, 3] }, 1],
  ['a longer list', { list: [1, 2] }, { list: [1, 2, 3] }, 1],
  ['another type', { a: [1] }, { a: { 0: 1 } }, 1],
  ['the whole value', null, { kind: 'A' }, 1],
  ['a member named __proto__', {}, JSON.parse('{"__proto__":{"a":1}}'), 1],
]
for (const [title, before, after, operations] of cases)
  test(title, () => {
    const patch = createJsonPatch(before, after)
    assert.equal(patch.length, operations, JSON.stringify(patch))
    assert.deepEqual(jsonPatch(before, patch), after)
  })

test('an undefined member is absent', () => assert.deepEqual(createJsonPatch({ a: 1 }, { a: undefined }), [{ op: 'remove', path: '/a' }]))
