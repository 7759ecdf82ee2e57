// JSON merge patch: the examples of RFC 7396, and names that are special to the language.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from './json-patch.js'
import { mergePatch } from './merge-patch.js'
import { deepFreeze } from './stage.fixture.js'

const rows: readonly { readonly name: string; readonly doc: Json; readonly patch: Json; readonly result: Json }[] = [
  { name: 'replace', doc: { a: 'b' }, patch: { a: 'c' }, result: { a: 'c' } },
  { name: 'add', doc: { a: 'b' }, patch: { b: 'c' }, result: { a: 'b', b: 'c' } },
  { name: 'remove the only one', doc: { a: 'b' }, patch: { a: null }, result: {} },
  { name: 'remove one of two', doc: { a: 'b', b: 'c' }, patch: { a: null }, result: { b: 'c' } },
  { name: 'a text for a list', doc: { a: ['b'] }, patch: { a: 'c' }, result: { a: 'c' } },
  { name: 'a list for a text', doc: { a: 'c' }, patch: { a: ['b'] }, result: { a: ['b'] } },
  { name: 'merge below', doc: { a: { b: 'c' } }, patch: { a: { b: 'd', c: null } }, result: { a: { b: 'd' } } },
  { name: 'lists are replaced', doc: { a: [{ b: 'c' }] }, patch: { a: [1] }, result: { a: [1] } },
  { name: 'a list for a list', doc: ['a', 'b'], patch: ['c', 'd'], result: ['c', 'd'] },
  { name: 'a list for an object', doc: { a: 'b' }, patch: ['c'], result: ['c'] },
  { name: 'null for an object', doc: { a: 'foo' }, patch: null, result: null },
  { name: 'a text for an object', doc: { a: 'foo' }, patch: 'bar', result: 'bar' },
  { name: 'null that is there stays', doc: { e: null }, patch: { a: 1 }, result: { e: null, a: 1 } },
  { name: 'an object for a list', doc: [1, 2], patch: { a: 'b', c: null }, result: { a: 'b' } },
  { name: 'null in something new removes nothing', doc: {}, patch: { a: { bb: { ccc: null } } }, result: { a: { bb: {} } } },
  { name: 'null in a list is a value', doc: {}, patch: { a: [null, { b: null }] }, result: { a: [null, { b: null }] } },
]

for (const { name, doc, patch, result } of rows) test(name, () => assert.deepEqual(mergePatch(deepFreeze(doc), deepFreeze(patch)), result))

test('what is not named is shared', () => {
  const doc = { a: { b: 1 }, c: { d: 1 } }
  const result = mergePatch(doc, { c: { d: 2 } }) as typeof doc
  assert.equal(result.a, doc.a)
  assert.deepEqual(doc.c, { d: 1 })
})

test('the prototype is a name like any other', () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Json
  assert.equal(JSON.stringify(mergePatch({}, patch)), JSON.stringify(patch))
  assert.equal(({} as { polluted?: number }).polluted, undefined)
  assert.equal(
    JSON.stringify(mergePatch(JSON.parse('{"__proto__":{"a":1}}') as Json, JSON.parse('{"__proto__":{"b":2}}') as Json)),
    '{"__proto__":{"a":1,"b":2}}',
  )
  assert.equal(JSON.stringify(mergePatch(JSON.parse('{"__proto__":1}') as Json, JSON.parse('{"__proto__":null}') as Json)), '{}')
})
