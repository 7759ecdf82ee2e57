// JSON patch: the examples of RFC 6902, cases of the public test suite, deviations of kube-apiserver, and limits.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { writeAny } from '../../schema/json/write.js'
import { PatchError, type PatchErrorKind } from '../patch-error.js'
import { deepFreeze } from '../testing/object-harness.fixture.js'
import { type Json, jsonPatch, readPointer } from './json-patch.js'

type Row = readonly [name: string, doc: Json, patch: Json, result: Json | undefined, error?: PatchErrorKind]

const add = (path: string, value: Json): Json => ({ op: 'add', path, value })
const remove = (path: string): Json => ({ op: 'remove', path })
const replace = (path: string, value: Json): Json => ({ op: 'replace', path, value })
const move = (from: string, path: string): Json => ({ op: 'move', from, path })
const copy = (from: string, path: string): Json => ({ op: 'copy', from, path })
const expect = (path: string, value: Json): Json => ({ op: 'test', path, value })

const rfc: readonly Row[] = [
  ['A.1 add a member', { foo: 'bar' }, [add('/baz', 'qux')], { baz: 'qux', foo: 'bar' }],
  ['A.2 insert an item', { foo: ['bar', 'baz'] }, [add('/foo/1', 'qux')], { foo: ['bar', 'qux', 'baz'] }],
  ['A.3 remove a member', { baz: 'qux', foo: 'bar' }, [remove('/baz')], { foo: 'bar' }],
  ['A.4 remove an item', { foo: ['bar', 'qux', 'baz'] }, [remove('/foo/1')], { foo: ['bar', 'baz'] }],
  ['A.5 replace a value', { baz: 'qux', foo: 'bar' }, [replace('/baz', 'boo')], { baz: 'boo', foo: 'bar' }],
  [
    'A.6 move a value',
    { foo: { bar: 'baz', waldo: 'fred' }, qux: { corge: 'grault' } },
    [move('/foo/waldo', '/qux/thud')],
    { foo: { bar: 'baz' }, qux: { corge: 'grault', thud: 'fred' } },
  ],
  ['A.7 move an item', { foo: ['all', 'grass', 'cows', 'eat'] }, [move('/foo/1', '/foo/3')], { foo: ['all', 'cows', 'eat', 'grass'] }],
  ['A.8 tests', { baz: 'qux', foo: ['a', 2, 'c'] }, [expect('/baz', 'qux'), expect('/foo/1', 2)], { baz: 'qux', foo: ['a', 2, 'c'] }],
  ['A.9 failed test', { baz: 'qux' }, [expect('/baz', 'bar')], undefined, 'test-failed'],
  ['A.10 add a nested object', { foo: 'bar' }, [add('/child', { grandchild: {} })], { foo: 'bar', child: { grandchild: {} } }],
  ['A.11 unknown members', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux', xyz: 123 }], { foo: 'bar', baz: 'qux' }],
  ['A.12 add to a nonexistent target', { foo: 'bar' }, [add('/baz/bat', 'qux')], undefined, 'missing-path'],
  ['A.14 tilde escapes', { '/': 9, '~1': 10 }, [expect('/~01', 10)], { '/': 9, '~1': 10 }],
  ['A.15 a string does not equal a number', { '/': 9, '~1': 10 }, [expect('/~01', '10')], undefined, 'test-failed'],
  ['A.16 append an array', { foo: ['bar'] }, [add('/foo/-', ['abc', 'def'])], { foo: ['bar', ['abc', 'def']] }],
]

const pointers = { foo: ['bar', 'baz'], '': 0, 'a/b': 1, 'c%d': 2, 'e^f': 3, 'g|h': 4, 'i\\j': 5, 'k"l': 6, ' ': 7, 'm~n': 8 }

const suite: readonly Row[] = [
  ['no operations, empty document', {}, [], {}],
  ['no operations', { foo: 1, bar: [{ a: 1 }] }, [], { foo: 1, bar: [{ a: 1 }] }],
  ['no operations on a list', ['foo'], [], ['foo']],
  ['add replaces an existing member', { foo: null }, [add('/foo', 1)], { foo: 1 }],
  ['add to an empty list', [], [add('/0', 'foo')], ['foo']],
  ['add a string of digits', {}, [add('/foo', '1')], { foo: '1' }],
  ['add a number', {}, [add('/foo', 1)], { foo: 1 }],
  ['replace a scalar document', 'foo', [replace('', 'bar')], 'bar'],
  ['replace an object document by a list', {}, [replace('', [])], []],
  ['replace a list document by an object', [], [replace('', {})], {}],
  ['append to the document', [], [add('/-', 'hi')], ['hi']],
  ['add a member with an empty name', {}, [add('/', 1)], { '': 1 }],
  ['add a nested member with an empty name', { foo: {} }, [add('/foo/', 1)], { foo: { '': 1 } }],
  ['add a list', { foo: 1 }, [add('/bar', [1, 2])], { foo: 1, bar: [1, 2] }],
  ['add into an item', { baz: [{ qux: 'hello' }] }, [add('/baz/0/foo', 'world')], { baz: [{ qux: 'hello', foo: 'world' }] }],
  ['add beyond the end of a list', { bar: [1, 2] }, [add('/bar/8', '5')], undefined, 'missing-path'],
  ['add before the beginning of a list', { bar: [1, 2] }, [add('/bar/-4', '5')], undefined, 'missing-path'],
  ['add true', { foo: 1 }, [add('/bar', true)], { foo: 1, bar: true }],
  ['add false', { foo: 1 }, [add('/bar', false)], { foo: 1, bar: false }],
  ['add null', { foo: 1 }, [add('/bar', null)], { foo: 1, bar: null }],
  ['a digit is a name as well', { foo: 1 }, [add('/0', 'bar')], { foo: 1, '0': 'bar' }],
  ['insert at the end by position', ['foo'], [add('/1', 'bar')], ['foo', 'bar']],
  ['insert in the middle', ['foo', 'sil'], [add('/1', 'bar')], ['foo', 'bar', 'sil']],
  ['insert at the front', ['foo', 'sil'], [add('/0', 'bar')], ['bar', 'foo', 'sil']],
  ['append by index', ['foo', 'sil'], [add('/2', 'bar')], ['foo', 'sil', 'bar']],
  ['add one beyond the end', ['foo', 'sil'], [add('/3', 'bar')], undefined, 'missing-path'],
  ['a member name that looks like a number', { '1e0': 'foo' }, [expect('/1e0', 'foo')], { '1e0': 'foo' }],
  ['test at an invalid index', ['foo', 'bar'], [expect('/1e0', 'bar')], undefined, 'missing-path'],
  ['a name as a list index', ['foo', 'sil'], [add('/bar', 42)], undefined, 'missing-path'],
  ['insert a list as one item', ['foo', 'sil'], [add('/1', ['bar', 'baz'])], ['foo', ['bar', 'baz'], 'sil']],
  ['remove a list', { foo: 1, bar: [1, 2] }, [remove('/bar')], { foo: 1 }],
  ['remove in an item', { baz: [{ qux: 'hello' }] }, [remove('/baz/0/qux')], { baz: [{}] }],
  ['replace by a list', { foo: 1 }, [replace('/foo', [1, 2])], { foo: [1, 2] }],
  ['replace in an item', { baz: [{ qux: 'hello' }] }, [replace('/baz/0/qux', 'world')], { baz: [{ qux: 'world' }] }],
  ['replace an item', ['foo'], [replace('/0', 'bar')], ['bar']],
  ['replace by zero', [''], [replace('/0', 0)], [0]],
  ['replace by true', [''], [replace('/0', true)], [true]],
  ['replace by false', [''], [replace('/0', false)], [false]],
  ['replace by null', [''], [replace('/0', null)], [null]],
  ['replace an item by a list', ['foo', 'sil'], [replace('/1', ['bar', 'baz'])], ['foo', ['bar', 'baz']]],
  ['replace the document', { foo: 'bar' }, [replace('', { baz: 'qux' })], { baz: 'qux' }],
  ['replace in a missing object', { bar: 'baz' }, [replace('/foo/bar', false)], undefined, 'missing-path'],
  ['unknown members of a test are ignored', { foo: 1 }, [{ op: 'test', path: '/foo', value: 1, spurious: 1 }], { foo: 1 }],
  ['test null', { foo: null }, [expect('/foo', null)], { foo: null }],
  ['replace a null member', { foo: null }, [replace('/foo', 'truthy')], { foo: 'truthy' }],
  ['move null', { foo: null }, [move('/foo', '/bar')], { bar: null }],
  ['copy null', { foo: null }, [copy('/foo', '/bar')], { foo: null, bar: null }],
  ['remove null', { foo: null }, [remove('/foo')], {}],
  ['replace by null', { foo: 'bar' }, [replace('/foo', null)], { foo: null }],
  ['test ignores the order of members', { foo: { foo: 1, bar: 2 } }, [expect('/foo', { bar: 2, foo: 1 })], { foo: { foo: 1, bar: 2 } }],
  ['order of members in list items', { foo: [{ foo: 1, bar: 2 }] }, [expect('/foo', [{ bar: 2, foo: 1 }])], { foo: [{ foo: 1, bar: 2 }] }],
  ['test equal lists', { foo: { bar: [1, 2, 5, 4] } }, [expect('/foo', { bar: [1, 2, 5, 4] })], { foo: { bar: [1, 2, 5, 4] } }],
  ['an object does not equal a list', { foo: { bar: [1] } }, [expect('/foo', [1, 2])], undefined, 'test-failed'],
  ['test the document', { foo: 1 }, [expect('', { foo: 1 })], { foo: 1 }],
  ['test a member with an empty name', { '': 1 }, [expect('/', 1)], { '': 1 }],
  [
    'pointers with special characters',
    pointers,
    [
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
    pointers,
  ],
  ['move to the same path', { foo: 1 }, [move('/foo', '/foo')], { foo: 1 }],
  ['move to another name', { foo: 1, baz: [] }, [move('/foo', '/bar')], { baz: [], bar: 1 }],
  ['move out of an item', { baz: [{ qux: 'hello' }] }, [move('/baz/0/qux', '/baz/1')], { baz: [{}, 'hello'] }],
  ['copy an item', { baz: [{ qux: 'hello' }] }, [copy('/baz/0', '/boo')], { baz: [{ qux: 'hello' }], boo: { qux: 'hello' } }],
  ['adding the whole document fails', { foo: 'bar' }, [add('', { baz: 'qux' })], undefined, 'missing-path'],
  ['append an object', [1, 2], [add('/-', { foo: ['bar'] })], [1, 2, { foo: ['bar'] }]],
  ['append to a nested list', [1, 2, [3, [4, 5]]], [add('/2/1/-', { foo: 1 })], [1, 2, [3, [4, 5, { foo: 1 }]]]],
  ['remove below an invalid index', { baz: [{ qux: 'hello' }] }, [remove('/baz/1e0/qux')], undefined, 'missing-path'],
  ['remove the first item', [1, 2, 3, 4], [remove('/0')], [2, 3, 4]],
  ['remove two items', [1, 2, 3, 4], [remove('/1'), remove('/2')], [1, 3]],
  ['remove an item at an invalid index', [1, 2, 3, 4], [remove('/1e0')], undefined, 'missing-path'],
  ['replace at an invalid index', [''], [replace('/1e0', false)], undefined, 'missing-path'],
  ['copy from an invalid index', { baz: [1, 2, 3] }, [copy('/baz/1e0', '/boo')], undefined, 'missing-path'],
  ['move from an invalid index', { foo: 1, baz: [1, 2] }, [move('/baz/1e0', '/foo')], undefined, 'missing-path'],
  ['add at an invalid index', ['foo', 'sil'], [add('/1e0', 'bar')], undefined, 'missing-path'],
  ['add without a value', [1], [{ op: 'add', path: '/-' }], [1, null]],
  ['replace without a value', [1], [{ op: 'replace', path: '/0' }], [null]],
  ['test without a value', [null], [{ op: 'test', path: '/0' }], undefined, 'test-failed'],
  ['test without a value against false', [false], [{ op: 'test', path: '/0' }], undefined, 'test-failed'],
  ['copy without `from`', [1], [{ op: 'copy', path: '/-' }], undefined, 'bad-operation'],
  ['move without `from`', { foo: 1 }, [{ op: 'move', path: '' }], undefined, 'bad-operation'],
  ['an unknown operation', { foo: 1 }, [{ op: 'spam', path: '/foo', value: 1 }], undefined, 'bad-operation'],
  ['index 00 is the first item', ['foo', 'bar'], [expect('/00', 'foo')], ['foo', 'bar']],
  ['a leading zero of an index is ignored', ['foo', 'bar'], [expect('/01', 'bar')], ['foo', 'bar']],
  ['remove a missing member', { foo: 'bar' }, [remove('/baz')], undefined, 'missing-path'],
  ['remove a missing item', ['foo', 'bar'], [remove('/2')], undefined, 'missing-path'],
  ['member names are case-sensitive', { foo: 'bar' }, [add('/FOO', 'BAR')], { foo: 'bar', FOO: 'BAR' }],
]

const deviations: readonly Row[] = [
  ['a patch that is not a list', {}, { data: 1 }, undefined, 'malformed'],
  ['an operation that is not an object', {}, ['add'], undefined, 'malformed'],
  ['an operation without a path', {}, [{ op: 'add', value: 1 }], undefined, 'bad-operation'],
  ['a path without a slash', { foo: 1 }, [add('foo', 2)], undefined, 'bad-operation'],
  ['text before the first slash of a path is ignored', { data: { b: 1 } }, [replace('data/b', 'x')], { data: { b: 1 }, b: 'x' }],
  ['replace adds a missing member', { data: {} }, [replace('/data/nope', 'x')], { data: { nope: 'x' } }],
  ['replace of a missing item fails', ['a'], [replace('/1', 'x')], undefined, 'missing-path'],
  ['a missing member equals null', { data: {} }, [expect('/data/nope', null)], { data: {} }],
  ['a missing member equals nothing but null', { data: {} }, [expect('/data/nope', '')], undefined, 'test-failed'],
  ['test in a missing object fails', {}, [expect('/data/nope', null)], undefined, 'missing-path'],
  ['test of a missing item fails', [], [expect('/0', null)], undefined, 'missing-path'],
  ['copy of a missing member adds null', { a: 1 }, [copy('/b', '/c')], { a: 1, c: null }],
  ['move of a missing member fails', { a: 1 }, [move('/b', '/c')], undefined, 'missing-path'],
  [
    'negative indexes count from the end',
    { l: [1, 2, 3] },
    [add('/l/-1', 4), remove('/l/-4'), replace('/l/-3', 9), expect('/l/-2', 3)],
    { l: [9, 3, 4] },
  ],
  [
    'test ignores the order of nested members',
    { a: { x: 1, y: [{ p: 1, q: 2 }] } },
    [expect('/a', { y: [{ q: 2, p: 1 }], x: 1 })],
    { a: { x: 1, y: [{ p: 1, q: 2 }] } },
  ],
  ['add into a scalar fails', { a: 'text' }, [add('/a/b', 1)], undefined, 'missing-path'],
  ['move into its own child fails', { a: { b: 1 } }, [move('/a', '/a/b/c')], undefined, 'bad-operation'],
  ['removing the whole document fails', { a: 1 }, [remove('')], undefined, 'missing-path'],
  [
    'a copy is independent of its source',
    { a: { x: 1 } },
    [add('/a/y', 2), copy('/a', '/b'), add('/b/z', 3), remove('/a/x')],
    { a: { y: 2 }, b: { x: 1, y: 2, z: 3 } },
  ],
  ['a failed patch changes nothing', { a: 1 }, [add('/b', 2), expect('/a', 2)], undefined, 'test-failed'],
  ['inherited names such as constructor are missing', {}, [expect('/constructor/name', 'Object')], undefined, 'missing-path'],
  ['__proto__ is missing', {}, [add('/__proto__/polluted', true)], undefined, 'missing-path'],
  [
    '__proto__ and constructor can be added',
    {},
    [add('/__proto__', {}), add('/__proto__/x', 1), add('/constructor', 1)],
    JSON.parse('{"__proto__":{"x":1},"constructor":1}') as Json,
  ],
]

for (const [name, doc, patch, result, error] of [...rfc, ...suite, ...deviations])
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

test('limits of operations and of copied bytes', () => {
  const many = Array.from({ length: 10_001 }, () => expect('/kind', 'x'))
  assert.throws(() => jsonPatch({ kind: 'x' }, many), {
    kind: 'too-many-operations',
    message: 'The allowed maximum operations in a JSON patch is 10000, got 10001',
  })
  const doubling = Array.from({ length: 30 }, (_, i) => copy('', `/copy${i}`))
  assert.throws(() => jsonPatch({ text: 'x'.repeat(100) }, doubling), { kind: 'copy-too-large' })
})

test('a short patch cannot copy too many values', () => {
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

test('copies count the bytes of their JSON', () => {
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

const isUnprocessable = (thrown: unknown): boolean => thrown instanceof PatchError && thrown.kind === 'unprocessable'

test('operations cannot nest the document too deeply', () => {
  const deeper = (levels: number): Json[] =>
    Array.from({ length: levels }, (_, i) => [add(`/x${i + 1}`, {}), move(`/x${i}`, `/x${i + 1}/in`)]).flat()
  assert.throws(() => jsonPatch({ x0: {} }, deeper(2000)), isUnprocessable)
  assert.throws(() => jsonPatch({ x0: {} }, [...deeper(2000), copy('/x2000', '/y')]), isUnprocessable)
  assert.throws(() => jsonPatch({ x0: {} }, [...deeper(2000), expect('/x2000', {})]), isUnprocessable)
  assert.doesNotThrow(() => jsonPatch({ x0: {} }, deeper(900)))
})

test('a long missing path is shortened in the message', () => {
  assert.throws(
    () => jsonPatch({}, [remove(`/${'x'.repeat(100_000)}`)]),
    (thrown) => thrown instanceof PatchError && thrown.message.length < 700,
  )
})

test('readPointer reads at most 1002 segments', () => {
  assert.equal(readPointer('/x'.repeat(250_000))?.length, 1002)
  assert.deepEqual(readPointer('/a~1b/~0/c'), ['a/b', '~', 'c'])
  assert.throws(() => jsonPatch({ x: {} }, [add('/x'.repeat(250_000), 1)]), { kind: 'missing-path' })
  const deep = JSON.parse(`${'{"x":'.repeat(998)}{}${'}'.repeat(998)}`) as Json
  assert.doesNotThrow(() => jsonPatch(deep, [add('/x'.repeat(999), 1)]))
})
