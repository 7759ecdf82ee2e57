// JSON merge patch: the examples of RFC 7396, and names such as __proto__.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from './json-patch/json-patch.js'
import { mergePatch } from './merge-patch.js'
import { deepFreeze } from './testing/object-harness.fixture.js'

const rows: readonly { readonly name: string; readonly doc: Json; readonly patch: Json; readonly result: Json }[] = [
  { name: 'replace a member', doc: { a: 'b' }, patch: { a: 'c' }, result: { a: 'c' } },
  { name: 'add a member', doc: { a: 'b' }, patch: { b: 'c' }, result: { a: 'b', b: 'c' } },
  { name: 'remove the only member', doc: { a: 'b' }, patch: { a: null }, result: {} },
  { name: 'remove one of two members', doc: { a: 'b', b: 'c' }, patch: { a: null }, result: { b: 'c' } },
  { name: 'replace a list by a string', doc: { a: ['b'] }, patch: { a: 'c' }, result: { a: 'c' } },
  { name: 'replace a string by a list', doc: { a: 'c' }, patch: { a: ['b'] }, result: { a: ['b'] } },
  { name: 'merge nested objects', doc: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, result: { a: { b: 'd' } } },
  { name: 'lists are replaced', doc: { a: [{ b: 'c' }] }, patch: { a: [1] }, result: { a: [1] } },
  { name: 'a list document is replaced', doc: ['a', 'b'], patch: ['c', 'd'], result: ['c', 'd'] },
  { name: 'a list patch replaces an object', doc: { a: 'b' }, patch: ['c'], result: ['c'] },
  { name: 'a null patch replaces an object', doc: { a: 'foo' }, patch: null, result: null },
  { name: 'a string patch replaces an object', doc: { a: 'foo' }, patch: 'bar', result: 'bar' },
  { name: 'an existing null is kept', doc: { e: null }, patch: { a: 1 }, result: { e: null, a: 1 } },
  { name: 'an object patch replaces a list', doc: [1, 2], patch: { a: 'b', c: null }, result: { a: 'b' } },
  { name: 'null in a new object is dropped', doc: {}, patch: { a: { bb: { ccc: null } } }, result: { a: { bb: {} } } },
  { name: 'null items are kept, null members in lists are dropped', doc: {}, patch: { a: [null, { b: null }] }, result: { a: [null, {}] } },
  { name: 'a list in a list has no null members', doc: { a: [1] }, patch: { a: [[{ b: null, c: 1 }]] }, result: { a: [[{ c: 1 }]] } },
  { name: 'a list that replaces an object keeps nulls', doc: { a: {} }, patch: { a: [{ b: null }] }, result: { a: [{ b: null }] } },
]

for (const { name, doc, patch, result } of rows) test(name, () => assert.deepEqual(mergePatch(deepFreeze(doc), deepFreeze(patch)), result))

test('members that the patch does not name are shared', () => {
  const doc = { a: { b: 1 }, c: { d: 1 } }
  const result = mergePatch(doc, { c: { d: 2 } }) as typeof doc
  assert.equal(result.a, doc.a)
  assert.deepEqual(doc.c, { d: 1 })
})

test('__proto__ and constructor are ordinary names', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Json
  assert.equal(JSON.stringify(mergePatch({}, patch)), JSON.stringify(patch))
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  assert.equal(
    JSON.stringify(mergePatch(JSON.parse('{"__proto__":{"a":1}}') as Json, JSON.parse('{"__proto__":{"b":2}}') as Json)),
    '{"__proto__":{"a":1,"b":2}}',
  )
  assert.equal(JSON.stringify(mergePatch(JSON.parse('{"__proto__":1}') as Json, JSON.parse('{"__proto__":null}') as Json)), '{}')
})
