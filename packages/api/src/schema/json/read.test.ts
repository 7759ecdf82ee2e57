// Decoding by schema: types, unknown fields and dropped values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, boolean, bytes, field, int32, int64, intOrString, lazy, list, map, microTime, number, string, struct, time } from '../node.js'
import { printPath } from '../path.js'
import { readValue, SchemaReadError } from './read.js'

const port = struct('Port', { port: field(1, int32, { always: true }), name: field(2, string), weight: field(3, int64) })
const thing = struct(
  'Thing',
  {
    text: field(1, string),
    flag: field(2, boolean),
    maybe: field(3, boolean, { pointer: true }),
    count: field(4, int32, { pointer: true }),
    ratio: field(5, number),
    data: field(6, map(bytes)),
    labels: field(7, map(string)),
    ports: field(8, list(port)),
    when: field(9, time),
    exact: field(10, microTime),
    target: field(11, intOrString),
    raw: field(12, any('json')),
    big: field(13, int64),
    inner: field(14, port),
  },
  { typeMeta: true },
)

const readable: readonly (readonly [name: string, sent: unknown, read: unknown, unknown?: readonly string[]])[] = [
  ['zero values of non-pointers are dropped', { text: '', flag: false, ratio: 0 }, {}],
  ['zero values of pointers are kept', { maybe: false, count: 0 }, { maybe: false, count: 0 }],
  ['nulls are dropped', { text: null, ports: null, inner: null }, {}],
  ['nulls in lists and maps become zero values', { ports: [null], labels: { a: null } }, { ports: [{}], labels: { a: '' } }],
  ['an empty struct is kept', { inner: {} }, { inner: {} }],
  ['kind and apiVersion are known fields', { kind: 'Thing', apiVersion: 'v1' }, { kind: 'Thing', apiVersion: 'v1' }],
  [
    'unknown fields are dropped and reported in document order',
    { nope: 1, ports: [{ port: 1 }, { port: 2, prot: 'x' }], inner: { deep: {} } },
    { ports: [{ port: 1 }, { port: 2 }], inner: {} },
    ['nope', 'ports[1].prot', 'inner.deep'],
  ],
  ['times become UTC in whole seconds', { when: '2020-01-02T03:04:05.678+02:00' }, { when: '2020-01-02T01:04:05Z' }],
  ['MicroTime has six decimals', { exact: '2020-01-02T04:04:05.500000+01:00' }, { exact: '2020-01-02T03:04:05.500000Z' }],
  ['line breaks in base64 are removed', { data: { k: 'aGVs\nbG8=' } }, { data: { k: 'aGVsbG8=' } }],
  ['IntOrString keeps an integer', { target: 80 }, { target: 80 }],
  ['int64 beyond 2^53 is exact', { big: 9223372036854775807n }, { big: 9223372036854775807n }],
  ['unstructured JSON is unchanged', { raw: { a: [null, {}] } }, { raw: { a: [null, {}] } }],
]

for (const [name, sent, read, unknown = []] of readable) {
  test(`read: ${name}`, () => {
    const { value, report } = readValue(thing, sent)
    assert.deepEqual(value, read)
    assert.deepEqual(report.unknown.map(printPath), unknown)
  })
}

const invalid: readonly { name: string; sent: unknown; path: string }[] = [
  { name: 'a number for a string', sent: { text: 5 }, path: 'text' },
  { name: 'a string for an object', sent: { inner: 'x' }, path: 'inner' },
  { name: 'an object for a list', sent: { ports: {} }, path: 'ports' },
  { name: 'a list for a map', sent: { labels: [] }, path: 'labels' },
  { name: 'a fraction for an integer', sent: { ports: [{ port: 1.5 }] }, path: 'ports[0].port' },
  { name: 'an integer beyond int32', sent: { count: 2147483648 }, path: 'count' },
  { name: 'an integer beyond int64', sent: { big: 9223372036854775808n }, path: 'big' },
  { name: 'an invalid date', sent: { when: '2021-02-30T00:00:00Z' }, path: 'when' },
  { name: 'invalid base64', sent: { data: { k: '*' } }, path: 'data.k' },
]

for (const row of invalid) {
  test(`read rejects ${row.name}`, () => {
    assert.throws(
      () => readValue(thing, row.sent),
      (error) => error instanceof SchemaReadError && error.path === row.path,
    )
  })
}

test('read: __proto__ is a key like any other', () => {
  const { value } = readValue(thing, JSON.parse('{"labels":{"__proto__":"x","constructor":"y"}}'))
  const { labels } = value as { labels: object }
  assert.deepEqual(Object.entries(labels), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
  assert.equal(Object.getPrototypeOf(labels), Object.prototype)
})

test('read: unknown fields of recursive schemas are reported', () => {
  const tree: ReturnType<typeof struct> = struct('Tree', { name: field(1, string), children: field(2, list(lazy(() => tree))) })
  assert.deepEqual(readValue(tree, { name: 'a', children: [{ children: [{ name: 'c', odd: 1 }] }] }).report.unknown.map(printPath), [
    'children[0].children[0].odd',
  ])
})
