// JSON patch: the examples of RFC 6902, the cases of the public suite in our own table, and what the reference adds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeAny } from '../schema/write.js'
import { type Json, jsonPatch } from './json-patch.js'
import { readPointer } from './json-pointer.js'
import { PatchError, type PatchErrorKind } from './patch-error.js'
import { deepFreeze } from './stage.fixture.js'

interface Row {
  readonly name: string
  readonly doc: Json
  readonly patch: Json
  readonly result?: Json
  readonly error?: PatchErrorKind
}

const add = (path: string, value: Json): Json => ({ op: 'add', path, value })
const remove = (path: string): Json => ({ op: 'remove', path })
const replace = (path: string, value: Json): Json => ({ op: 'replace', path, value })
const move = (from: string, path: string): Json => ({ op: 'move', from, path })
const copy = (from: string, path: string): Json => ({ op: 'copy', from, path })
const expect = (path: string, value: Json): Json => ({ op: 'test', path, value })

const rfc: readonly Row[] = [
  { name: 'A.1 a member is added', doc: { foo: 'bar' }, patch: [add('/baz', 'qux')], result: { baz: 'qux', foo: 'bar' } },
  { name: 'A.2 an item is inserted', doc: { foo: ['bar', 'baz'] }, patch: [add('/foo/1', 'qux')], result: { foo: ['bar', 'qux', 'baz'] } },
  { name: 'A.3 a member is removed', doc: { baz: 'qux', foo: 'bar' }, patch: [remove('/baz')], result: { foo: 'bar' } },
  { name: 'A.4 an item is removed', doc: { foo: ['bar', 'qux', 'baz'] }, patch: [remove('/foo/1')], result: { foo: ['bar', 'baz'] } },
  { name: 'A.5 a value is replaced', doc: { baz: 'qux', foo: 'bar' }, patch: [replace('/baz', 'boo')], result: { baz: 'boo', foo: 'bar' } },
  {
    name: 'A.6 a value is moved',
    doc: { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    patch: [move('/foo/waldo', '/qux/thud')],
    result: { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  },
  {
    name: 'A.7 an item is moved',
    doc: { foo: ['all', 'grass', 'cows', 'eat'] },
    patch: [move('/foo/1', '/foo/3')],
    result: { foo: ['all', 'cows', 'eat', 'grass'] },
  },
  {
    name: 'A.8 tests hold',
    doc: { baz: 'qux', foo: ['a', 2, 'c'] },
    patch: [expect('/baz', 'qux'), expect('/foo/1', 2)],
    result: { baz: 'qux', foo: ['a', 2, 'c'] },
  },
  { name: 'A.9 a test fails', doc: { baz: 'qux' }, patch: [expect('/baz', 'bar')], error: 'test-failed' },
  {
    name: 'A.10 a nested object is added',
    doc: { foo: 'bar' },
    patch: [add('/child', { grandchild: {} })],
    result: { foo: 'bar', child: { grandchild: {} } },
  },
  {
    name: 'A.11 unknown members are ignored',
    doc: { foo: 'bar' },
    patch: [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }],
    result: { foo: 'bar', baz: 'qux' },
  },
  { name: 'A.12 the target does not exist', doc: { foo: 'bar' }, patch: [add('/baz/bat', 'qux')], error: 'missing-path' },
  { name: 'A.14 tilde escapes', doc: { '/': 9, '~1': 10 }, patch: [expect('/~01', 10)], result: { '/': 9, '~1': 10 } },
  { name: 'A.15 a text is no number', doc: { '/': 9, '~1': 10 }, patch: [expect('/~01', '10')], error: 'test-failed' },
  {
    name: 'A.16 an array is appended',
    doc: { foo: ['bar'] },
    patch: [add('/foo/-', ['abc', 'def'])],
    result: { foo: ['bar', ['abc', 'def']] },
  },
]

const pointers = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'e^f': 3, 'g|h': 4, 'i\\j': 5, 'k"l': 6, ' ': 7, 'm~n': 8 }

const suite: readonly Row[] = [
  { name: 'no operations, empty document', doc: {}, patch: [], result: {} },
  { name: 'no operations', doc: { foo: 1, bar: [{ a: 1 }] }, patch: [], result: { foo: 1, bar: [{ a: 1 }] } },
  { name: 'no operations on a list', doc: ['foo'], patch: [], result: ['foo'] },
  { name: 'add replaces what is there', doc: { foo: null }, patch: [add('/foo', 1)], result: { foo: 1 } },
  { name: 'add to an empty list', doc: [], patch: [add('/0', 'foo')], result: ['foo'] },
  { name: 'add a text of digits', doc: {}, patch: [add('/foo', '1')], result: { foo: '1' } },
  { name: 'add a number', doc: {}, patch: [add('/foo', 1)], result: { foo: 1 } },
  { name: 'replace a scalar document', doc: 'foo', patch: [replace('', 'bar')], result: 'bar' },
  { name: 'a list for an object', doc: {}, patch: [replace('', [])], result: [] },
  { name: 'an object for a list', doc: [], patch: [replace('', {})], result: {} },
  { name: 'append to the document', doc: [], patch: [add('/-', 'hi')], result: ['hi'] },
  { name: 'the empty name', doc: {}, patch: [add('/', 1)], result: { '': 1 } },
  { name: 'the empty name below', doc: { foo: {} }, patch: [add('/foo/', 1)], result: { foo: { '': 1 } } },
  { name: 'add a list', doc: { foo: 1 }, patch: [add('/bar', [1, 2])], result: { foo: 1, bar: [1, 2] } },
  {
    name: 'add into an item',
    doc: { baz: [{ qux: 'hello' }] },
    patch: [add('/baz/0/foo', 'world')],
    result: { baz: [{ qux: 'hello', foo: 'world' }] },
  },
  { name: 'beyond the end', doc: { bar: [1, 2] }, patch: [add('/bar/8', '5')], error: 'missing-path' },
  { name: 'before the beginning', doc: { bar: [1, 2] }, patch: [add('/bar/-4', '5')], error: 'missing-path' },
  { name: 'add true', doc: { foo: 1 }, patch: [add('/bar', true)], result: { foo: 1, bar: true } },
  { name: 'add false', doc: { foo: 1 }, patch: [add('/bar', false)], result: { foo: 1, bar: false } },
  { name: 'add null', doc: { foo: 1 }, patch: [add('/bar', null)], result: { foo: 1, bar: null } },
  { name: 'a digit is a name as well', doc: { foo: 1 }, patch: [add('/0', 'bar')], result: { foo: 1, '0': 'bar' } },
  { name: 'insert at the end by position', doc: ['foo'], patch: [add('/1', 'bar')], result: ['foo', 'bar'] },
  { name: 'insert in the middle', doc: ['foo', 'sil'], patch: [add('/1', 'bar')], result: ['foo', 'bar', 'sil'] },
  { name: 'insert at the front', doc: ['foo', 'sil'], patch: [add('/0', 'bar')], result: ['bar', 'foo', 'sil'] },
  { name: 'push by position', doc: ['foo', 'sil'], patch: [add('/2', 'bar')], result: ['foo', 'sil', 'bar'] },
  { name: 'one beyond the end', doc: ['foo', 'sil'], patch: [add('/3', 'bar')], error: 'missing-path' },
  { name: 'a name that looks like a number', doc: { '1e0': 'foo' }, patch: [expect('/1e0', 'foo')], result: { '1e0': 'foo' } },
  { name: 'test at no position', doc: ['foo', 'bar'], patch: [expect('/1e0', 'bar')], error: 'missing-path' },
  { name: 'a name in a list', doc: ['foo', 'sil'], patch: [add('/bar', 42)], error: 'missing-path' },
  { name: 'a list is one item', doc: ['foo', 'sil'], patch: [add('/1', ['bar', 'baz'])], result: ['foo', ['bar', 'baz'], 'sil'] },
  { name: 'remove a list', doc: { foo: 1, bar: [1, 2] }, patch: [remove('/bar')], result: { foo: 1 } },
  { name: 'remove in an item', doc: { baz: [{ qux: 'hello' }] }, patch: [remove('/baz/0/qux')], result: { baz: [{}] } },
  { name: 'replace by a list', doc: { foo: 1 }, patch: [replace('/foo', [1, 2])], result: { foo: [1, 2] } },
  {
    name: 'replace in an item',
    doc: { baz: [{ qux: 'hello' }] },
    patch: [replace('/baz/0/qux', 'world')],
    result: { baz: [{ qux: 'world' }] },
  },
  { name: 'replace an item', doc: ['foo'], patch: [replace('/0', 'bar')], result: ['bar'] },
  { name: 'replace by zero', doc: [''], patch: [replace('/0', 0)], result: [0] },
  { name: 'replace by true', doc: [''], patch: [replace('/0', true)], result: [true] },
  { name: 'replace by false', doc: [''], patch: [replace('/0', false)], result: [false] },
  { name: 'replace by null', doc: [''], patch: [replace('/0', null)], result: [null] },
  { name: 'replace an item by a list', doc: ['foo', 'sil'], patch: [replace('/1', ['bar', 'baz'])], result: ['foo', ['bar', 'baz']] },
  { name: 'replace the document', doc: { foo: 'bar' }, patch: [replace('', { baz: 'qux' })], result: { baz: 'qux' } },
  { name: 'replace below what is missing', doc: { bar: 'baz' }, patch: [replace('/foo/bar', false)], error: 'missing-path' },
  { name: 'spurious members', doc: { foo: 1 }, patch: [{ op: 'test', path: '/foo', value: 1, spurious: 1 }], result: { foo: 1 } },
  { name: 'null can be tested', doc: { foo: null }, patch: [expect('/foo', null)], result: { foo: null } },
  { name: 'null can be replaced', doc: { foo: null }, patch: [replace('/foo', 'truthy')], result: { foo: 'truthy' } },
  { name: 'null can be moved', doc: { foo: null }, patch: [move('/foo', '/bar')], result: { bar: null } },
  { name: 'null can be copied', doc: { foo: null }, patch: [copy('/foo', '/bar')], result: { foo: null, bar: null } },
  { name: 'null can be removed', doc: { foo: null }, patch: [remove('/foo')], result: {} },
  { name: 'null can replace', doc: { foo: 'bar' }, patch: [replace('/foo', null)], result: { foo: null } },
  {
    name: 'the order of members does not matter',
    doc: { foo: { foo: 1, bar: 2 } },
    patch: [expect('/foo', { bar: 2, foo: 1 })],
    result: { foo: { foo: 1, bar: 2 } },
  },
  {
    name: 'nor in a list',
    doc: { foo: [{ foo: 1, bar: 2 }] },
    patch: [expect('/foo', [{ bar: 2, foo: 1 }])],
    result: { foo: [{ foo: 1, bar: 2 }] },
  },
  {
    name: 'lists are equal',
    doc: { foo: { bar: [1, 2, 5, 4] } },
    patch: [expect('/foo', { bar: [1, 2, 5, 4] })],
    result: { foo: { bar: [1, 2, 5, 4] } },
  },
  { name: 'an object is no list', doc: { foo: { bar: [1] } }, patch: [expect('/foo', [1, 2])], error: 'test-failed' },
  { name: 'test the document', doc: { foo: 1 }, patch: [expect('', { foo: 1 })], result: { foo: 1 } },
  { name: 'test the empty name', doc: { '': 1 }, patch: [expect('/', 1)], result: { '': 1 } },
  {
    name: 'pointers of every kind',
    doc: pointers,
    patch: [
      expect('/foo', ['bar', 'baz']),
      expect('/foo/0', 'bar'),
      expect('/', 0),
      expect('/a~1b', 1),
      expect('/c%d', 2),
      expect('/e^f', 3),
      expect('/g|h', 4),
      expect('/i\\j', 5),
      expect('/k"l', 6),
      expect('/ ', 7),
      expect('/m~0n', 8),
    ],
    result: pointers,
  },
  { name: 'move to where it is', doc: { foo: 1 }, patch: [move('/foo', '/foo')], result: { foo: 1 } },
  { name: 'move to another name', doc: { foo: 1, baz: [] }, patch: [move('/foo', '/bar')], result: { baz: [], bar: 1 } },
  { name: 'move out of an item', doc: { baz: [{ qux: 'hello' }] }, patch: [move('/baz/0/qux', '/baz/1')], result: { baz: [{}, 'hello'] } },
  {
    name: 'copy an item',
    doc: { baz: [{ qux: 'hello' }] },
    patch: [copy('/baz/0', '/boo')],
    result: { baz: [{ qux: 'hello' }], boo: { qux: 'hello' } },
  },
  { name: 'add the document', doc: { foo: 'bar' }, patch: [add('', { baz: 'qux' })], error: 'missing-path' },
  { name: 'append an object', doc: [1, 2], patch: [add('/-', { foo: ['bar'] })], result: [1, 2, { foo: ['bar'] }] },
  { name: 'append levels down', doc: [1, 2, [3, [4, 5]]], patch: [add('/2/1/-', { foo: 1 })], result: [1, 2, [3, [4, 5, { foo: 1 }]]] },
  { name: 'remove at no position', doc: { baz: [{ qux: 'hello' }] }, patch: [remove('/baz/1e0/qux')], error: 'missing-path' },
  { name: 'remove the first', doc: [1, 2, 3, 4], patch: [remove('/0')], result: [2, 3, 4] },
  { name: 'remove twice', doc: [1, 2, 3, 4], patch: [remove('/1'), remove('/2')], result: [1, 3] },
  { name: 'remove item at no position', doc: [1, 2, 3, 4], patch: [remove('/1e0')], error: 'missing-path' },
  { name: 'replace at no position', doc: [''], patch: [replace('/1e0', false)], error: 'missing-path' },
  { name: 'copy from no position', doc: { baz: [1, 2, 3] }, patch: [copy('/baz/1e0', '/boo')], error: 'missing-path' },
  { name: 'move from no position', doc: { foo: 1, baz: [1, 2] }, patch: [move('/baz/1e0', '/foo')], error: 'missing-path' },
  { name: 'add at no position', doc: ['foo', 'sil'], patch: [add('/1e0', 'bar')], error: 'missing-path' },
  { name: 'add without a value', doc: [1], patch: [{ op: 'add', path: '/-' }], result: [1, null] },
  { name: 'replace without a value', doc: [1], patch: [{ op: 'replace', path: '/0' }], result: [null] },
  { name: 'test without a value', doc: [null], patch: [{ op: 'test', path: '/0' }], error: 'test-failed' },
  { name: 'test without a value against false', doc: [false], patch: [{ op: 'test', path: '/0' }], error: 'test-failed' },
  { name: 'copy from nowhere', doc: [1], patch: [{ op: 'copy', path: '/-' }], error: 'bad-operation' },
  { name: 'move from nowhere', doc: { foo: 1 }, patch: [{ op: 'move', path: '' }], error: 'bad-operation' },
  { name: 'an unknown operation', doc: { foo: 1 }, patch: [{ op: 'spam', path: '/foo', value: 1 }], error: 'bad-operation' },
  { name: 'two zeros are the first position', doc: ['foo', 'bar'], patch: [expect('/00', 'foo')], result: ['foo', 'bar'] },
  { name: 'a leading zero is left out', doc: ['foo', 'bar'], patch: [expect('/01', 'bar')], result: ['foo', 'bar'] },
  { name: 'remove a missing member', doc: { foo: 'bar' }, patch: [remove('/baz')], error: 'missing-path' },
  { name: 'remove a missing item', doc: ['foo', 'bar'], patch: [remove('/2')], error: 'missing-path' },
  { name: 'names have their case', doc: { foo: 'bar' }, patch: [add('/FOO', 'BAR')], result: { foo: 'bar', FOO: 'BAR' } },
]

const ours: readonly Row[] = [
  { name: 'no list', doc: {}, patch: { data: 1 }, error: 'malformed' },
  { name: 'an operation that is no object', doc: {}, patch: ['add'], error: 'malformed' },
  { name: 'no path', doc: {}, patch: [{ op: 'add', value: 1 }], error: 'bad-operation' },
  { name: 'a path without any slash', doc: { foo: 1 }, patch: [add('foo', 2)], error: 'bad-operation' },
  {
    name: 'what stands before the first slash is not looked at',
    doc: { data: { b: 1 } },
    patch: [replace('data/b', 'x')],
    result: { data: { b: 1 }, b: 'x' },
  },
  { name: 'a missing member can be replaced', doc: { data: {} }, patch: [replace('/data/nope', 'x')], result: { data: { nope: 'x' } } },
  { name: 'a missing item cannot', doc: ['a'], patch: [replace('/1', 'x')], error: 'missing-path' },
  { name: 'a missing member is null', doc: { data: {} }, patch: [expect('/data/nope', null)], result: { data: {} } },
  { name: 'a missing member is nothing else', doc: { data: {} }, patch: [expect('/data/nope', '')], error: 'test-failed' },
  { name: 'below what is missing is no null', doc: {}, patch: [expect('/data/nope', null)], error: 'missing-path' },
  { name: 'a missing item is no null', doc: [], patch: [expect('/0', null)], error: 'missing-path' },
  { name: 'the copy of a missing member is null', doc: { a: 1 }, patch: [copy('/b', '/c')], result: { a: 1, c: null } },
  { name: 'a missing member cannot be moved', doc: { a: 1 }, patch: [move('/b', '/c')], error: 'missing-path' },
  {
    name: 'negative positions count from the end',
    doc: { l: [1, 2, 3] },
    patch: [add('/l/-1', 4), remove('/l/-4'), replace('/l/-3', 9), expect('/l/-2', 3)],
    result: { l: [9, 3, 4] },
  },
  {
    name: 'members are compared in any order',
    doc: { a: { x: 1, y: [{ p: 1, q: 2 }] } },
    patch: [expect('/a', { y: [{ q: 2, p: 1 }], x: 1 })],
    result: { a: { x: 1, y: [{ p: 1, q: 2 }] } },
  },
  { name: 'nothing goes into a scalar', doc: { a: 'text' }, patch: [add('/a/b', 1)], error: 'missing-path' },
  { name: 'not into itself', doc: { a: { b: 1 } }, patch: [move('/a', '/a/b/c')], error: 'bad-operation' },
  { name: 'the document does not go', doc: { a: 1 }, patch: [remove('')], error: 'missing-path' },
  {
    name: 'what was copied is apart',
    doc: { a: { x: 1 } },
    patch: [add('/a/y', 2), copy('/a', '/b'), add('/b/z', 3), remove('/a/x')],
    result: { a: { y: 2 }, b: { x: 1, y: 2, z: 3 } },
  },
  { name: 'a failed patch changes nothing', doc: { a: 1 }, patch: [add('/b', 2), expect('/a', 2)], error: 'test-failed' },
  {
    name: 'names that every object answers to are missing',
    doc: {},
    patch: [expect('/constructor/name', 'Object')],
    error: 'missing-path',
  },
  { name: 'and so is the prototype', doc: {}, patch: [add('/__proto__/polluted', true)], error: 'missing-path' },
  {
    name: 'but they can be added',
    doc: {},
    patch: [add('/__proto__', {}), add('/__proto__/x', 1), add('/constructor', 1)],
    result: JSON.parse('{"__proto__":{"x":1},"constructor":1}') as Json,
  },
]

for (const { name, doc, patch, result, error } of [...rfc, ...suite, ...ours])
  test(name, () => {
    const run = (): Json => jsonPatch(deepFreeze(structuredClone(doc)), deepFreeze(structuredClone(patch)))
    if (error === undefined) assert.equal(sortedJson(run()), sortedJson(result as Json))
    else assert.throws(run, (thrown) => thrown instanceof PatchError && thrown.kind === error)
    assert.equal(({} as { polluted?: boolean }).polluted, undefined)
  })

const sortedJson = (value: Json): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === 'object' && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )

test('limits', () => {
  const many = Array.from({ length: 10_001 }, () => expect('/kind', 'x'))
  assert.throws(() => jsonPatch({ kind: 'x' }, many), {
    kind: 'too-many-operations',
    message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
  })
  const doubling = Array.from({ length: 30 }, (_, i) => copy('', `/copy${i}`))
  assert.throws(() => jsonPatch({ text: 'x'.repeat(100) }, doubling), { kind: 'copy-too-large' })
})

test('a short patch does not copy a great many values', () => {
  const tooMany = { kind: 'copy-too-large', message: 'the copies of the patch hold too many values' }
  const lists = (count: number): Json => [add('/a', []), ...Array.from({ length: count }, () => copy('/a', '/a/-')), remove('/a')]
  assert.throws(() => jsonPatch({}, lists(19)), tooMany)
  assert.throws(() => jsonPatch({}, lists(40)), tooMany)
  assert.deepEqual(jsonPatch({}, lists(12)), {})
  const map = Object.fromEntries(Array.from({ length: 9000 }, (_, i) => [`k${i}`, 'v']))
  const copies = (count: number): Json => Array.from({ length: count }, () => copy('/map', '/again'))
  assert.throws(() => jsonPatch({ map }, copies(3)), tooMany)
  assert.deepEqual(jsonPatch({ map }, copies(1)), { map, again: map })
  const list = Array.from({ length: 200_000 }, () => 1)
  assert.throws(() => jsonPatch({ list }, [copy('/list', '/again')]), tooMany)
  assert.throws(() => jsonPatch({ list }, [add('/list/0', 0), copy('/list', '/again')]), tooMany)
})

test('what is copied is as long as it is written', () => {
  const value: Json = {
    'a<"é': ['\n', 1, 2.5, -1e21, null, true, 2n ** 64n, [], {}],
    b: {},
    pad: 'x'.repeat(2 << 20),
    last: ['&', '\u2028'],
  }
  assert.throws(() => jsonPatch({ value }, [copy('/value', '/x'), copy('/value', '/y')]), {
    kind: 'copy-too-large',
    message: `the copies of the patch amount to ${2 * writeAny(value).length} bytes, exceeding the limit of 3145728`,
  })
})

test('ten thousand operations on a map of ten thousand members take no time to speak of', () => {
  const doc = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i]))
  const patch = Array.from({ length: 10_000 }, (_, i) => replace(`/data/k${i}`, -i))
  const start = performance.now()
  const result = jsonPatch({ data: doc }, patch) as { data: { k42: number } }
  assert.equal(result.data.k42, -42)
  assert.equal(doc['k42'], 42)
  assert.ok(performance.now() - start < 20_000)
})

const isUnprocessable = (thrown: unknown): boolean => thrown instanceof PatchError && thrown.kind === 'unprocessable'

test('what operations put into one another nests no deeper than a document may', () => {
  const deeper = (levels: number): Json[] =>
    Array.from({ length: levels }, (_, i) => [add(`/x${i + 1}`, {}), move(`/x${i}`, `/x${i + 1}/in`)]).flat()
  assert.throws(() => jsonPatch({ x0: {} }, deeper(2000)), isUnprocessable)
  assert.throws(() => jsonPatch({ x0: {} }, [...deeper(2000), copy('/x2000', '/y')]), isUnprocessable)
  assert.throws(() => jsonPatch({ x0: {} }, [...deeper(2000), expect('/x2000', {})]), isUnprocessable)
  assert.doesNotThrow(() => jsonPatch({ x0: {} }, deeper(900)))
})

test('thousands of operations on a great list', () => {
  const items = Array.from({ length: 100_000 }, (_, i) => i)
  const doc: Json = deepFreeze({ list: items, other: [1] })
  const patch = Array.from({ length: 2000 }, (_, i): Json[] => [
    add('/list/0', -i),
    move('/list/1', '/list/-'),
    remove('/list/50000'),
  ]).flat()
  const expected = [...items]
  for (let i = 0; i < 2000; i++) {
    expected.unshift(-i)
    expected.push(...expected.splice(1, 1))
    expected.splice(50_000, 1)
  }
  assert.deepEqual(jsonPatch(doc, patch), { list: expected, other: [1] })
  assert.doesNotThrow(() => jsonPatch(doc, [add('/list/0', 'x'), expect('/list', ['x', ...items])]))
  const copied = jsonPatch(doc, [add('/list/0', 'x'), copy('/list', '/again'), remove('/list/0')]) as { list: Json[]; again: Json[] }
  assert.deepEqual([copied.list.length, copied.again.length, copied.again[0]], [100_000, 100_001, 'x'])
})

test('a path that is not there is told by its beginning', () => {
  assert.throws(
    () => jsonPatch({}, [remove(`/${'x'.repeat(100_000)}`)]),
    (thrown) => thrown instanceof PatchError && thrown.message.length < 700,
  )
})

test('of a path that leads nowhere no more steps are read than a document has', () => {
  assert.equal(readPointer('/x'.repeat(250_000))?.length, 1002)
  assert.deepEqual(readPointer('/a~1b/~0/c'), ['a/b', '~', 'c'])
  assert.throws(() => jsonPatch({ x: {} }, [add('/x'.repeat(250_000), 1)]), { kind: 'missing-path' })
  const deep = JSON.parse(`${'{"x":'.repeat(998)}{}${'}'.repeat(998)}`) as Json
  assert.doesNotThrow(() => jsonPatch(deep, [add('/x'.repeat(999), 1)]))
})
