// Reading values by a schema: types, unknown members, and what is left out.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, boolean, bytes, field, int32, int64, intOrString, lazy, list, map, microTime, number, string, struct, time } from './node.js'
import { printPath } from './path.js'
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

const readable: readonly { name: string; sent: unknown; read: unknown; unknown?: readonly string[] }[] = [
  { name: 'zero values of plain fields are left out', sent: { text: '', flag: false, ratio: 0 }, read: {} },
  { name: 'zero values of pointers stay', sent: { maybe: false, count: 0 }, read: { maybe: false, count: 0 } },
  { name: 'nulls are nothing', sent: { text: null, ports: null, inner: null }, read: {} },
  { name: 'nulls inside lists and maps are zero', sent: { ports: [null], labels: { a: null } }, read: { ports: [{}], labels: { a: '' } } },
  { name: 'an empty struct stays', sent: { inner: {} }, read: { inner: {} } },
  { name: 'kind and apiVersion are known', sent: { kind: 'Thing', apiVersion: 'v1' }, read: { kind: 'Thing', apiVersion: 'v1' } },
  {
    name: 'unknown members are dropped and named in the order of the document',
    sent: { nope: 1, ports: [{ port: 1 }, { port: 2, prot: 'x' }], inner: { deep: {} } },
    read: { ports: [{ port: 1 }, { port: 2 }], inner: {} },
    unknown: ['nope', 'ports[1].prot', 'inner.deep'],
  },
  { name: 'times become UTC seconds', sent: { when: '2020-01-02T03:04:05.678+02:00' }, read: { when: '2020-01-02T01:04:05Z' } },
  {
    name: 'exact times have six decimals',
    sent: { exact: '2020-01-02T04:04:05.500000+01:00' },
    read: { exact: '2020-01-02T03:04:05.500000Z' },
  },
  { name: 'line breaks in base64 go', sent: { data: { k: 'aGVs\nbG8=' } }, read: { data: { k: 'aGVsbG8=' } } },
  { name: 'integers or texts', sent: { target: 80 }, read: { target: 80 } },
  { name: 'long integers stay exact', sent: { big: 9223372036854775807n }, read: { big: 9223372036854775807n } },
  { name: 'free JSON is kept as it is', sent: { raw: { a: [null, {}] } }, read: { raw: { a: [null, {}] } } },
]

for (const row of readable) {
  test(`read: ${row.name}`, () => {
    const { value, report } = readValue(thing, row.sent)
    assert.deepEqual(value, row.read)
    assert.deepEqual(report.unknown.map(printPath), row.unknown ?? [])
  })
}

const refused: readonly { name: string; sent: unknown; path: string }[] = [
  { name: 'a number for a text', sent: { text: 5 }, path: 'text' },
  { name: 'a text for an object', sent: { inner: 'x' }, path: 'inner' },
  { name: 'an object for a list', sent: { ports: {} }, path: 'ports' },
  { name: 'a list for a map', sent: { labels: [] }, path: 'labels' },
  { name: 'a fraction for an integer', sent: { ports: [{ port: 1.5 }] }, path: 'ports[0].port' },
  { name: 'an integer that does not fit', sent: { count: 2147483648 }, path: 'count' },
  { name: 'an integer beyond 64 bits', sent: { big: 9223372036854775808n }, path: 'big' },
  { name: 'a day that no calendar has', sent: { when: '2021-02-30T00:00:00Z' }, path: 'when' },
  { name: 'no base64', sent: { data: { k: '*' } }, path: 'data.k' },
]

for (const row of refused) {
  test(`read refuses ${row.name}`, () => {
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

test('read: a map is the one that was sent where nothing in it is read as something else', () => {
  const labels = JSON.parse('{"b":"1","a":"2","__proto__":"3"}') as Record<string, string>
  const kept = readValue(thing, { labels }).value as { labels: unknown }
  assert.equal(kept.labels, labels)
  const data = { a: 'aGVsbG8=', b: 'aGVs\nbG8=', c: null }
  const changed = readValue(thing, { data }).value as { data: Record<string, unknown> }
  assert.deepEqual(Object.entries(changed.data), [
    ['a', 'aGVsbG8='],
    ['b', 'aGVsbG8='],
    ['c', ''],
  ])
  assert.deepEqual(data, { a: 'aGVsbG8=', b: 'aGVs\nbG8=', c: null })
})

test('read: a schema may contain itself', () => {
  const tree: ReturnType<typeof struct> = struct('Tree', { name: field(1, string), children: field(2, list(lazy(() => tree))) })
  assert.deepEqual(readValue(tree, { name: 'a', children: [{ children: [{ name: 'c', odd: 1 }] }] }).report.unknown.map(printPath), [
    'children[0].children[0].odd',
  ])
})
