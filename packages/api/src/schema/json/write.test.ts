// Canonical JSON by schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, boolean, field, int32, int64, jsonField, list, map, string, struct, time } from '../node.js'
import { readValue } from './read.js'
import { countBigNumbers, writeStored, writeStoredFields, writeText, writeValue } from './write.js'

const inner = struct('Inner', { a: field(1, string), since: field(2, time) })
const thing = struct('Thing', {
  name: field(1, string),
  must: field(2, string, { always: true }),
  items: field(3, list(inner), { always: true }),
  flag: field(4, boolean, { pointer: true }),
  labels: field(5, map(string)),
  spec: field(6, inner),
  ref: field(7, inner, { pointer: true }),
  raw: field(8, any('json')),
  count: field(9, int32),
  big: field(10, int64),
})

const rows: readonly (readonly [name: string, value: object, text: string])[] = [
  ['`always` fields and structs are written when absent', {}, '{"must":"","items":null,"spec":{"since":null}}'],
  ['empty list', { items: [] }, '{"must":"","items":[],"spec":{"since":null}}'],
  [
    'fields in schema order, map keys sorted',
    { labels: { b: '1', a: '2' }, name: 'n', must: 'm', items: [], spec: { a: 'x', since: '2020-01-01T00:00:00Z' } },
    '{"name":"n","must":"m","items":[],"labels":{"a":"2","b":"1"},"spec":{"a":"x","since":"2020-01-01T00:00:00Z"}}',
  ],
  ['pointers to zero values', { flag: false, ref: {} }, '{"must":"","items":null,"flag":false,"spec":{"since":null},"ref":{"since":null}}'],
  ['zero values are omitted', { count: 0, labels: {}, name: '' }, '{"must":"","items":null,"spec":{"since":null}}'],
  ['int64 beyond 2^53', { big: 9223372036854775807n }, '{"must":"","items":null,"spec":{"since":null},"big":9223372036854775807}'],
  [
    'unstructured JSON',
    { raw: { '<': ['&', null, 1.5] } },
    '{"must":"","items":null,"spec":{"since":null},"raw":{"\\u003c":["\\u0026",null,1.5]}}',
  ],
]

for (const [name, value, text] of rows) test(`write: ${name}`, () => assert.equal(writeValue(thing, value), text))

const texts: readonly { name: string; text: string; written: string }[] = [
  { name: 'no escapes', text: 'größe', written: '"größe"' },
  { name: 'angle brackets and ampersands', text: '<a&b>', written: '"\\u003ca\\u0026b\\u003e"' },
  { name: 'quotes and backslashes', text: 'a"b\\c', written: '"a\\"b\\\\c"' },
  { name: 'control characters', text: '\b\f\n\u0001', written: '"\\u0008\\u000c\\n\\u0001"' },
  { name: 'a backslash before b is no control character', text: '\\b<', written: '"\\\\b\\u003c"' },
  { name: 'line separators', text: '\u2028', written: '"\\u2028"' },
  { name: 'a lone surrogate becomes U+FFFD', text: '\ud800', written: '"\ufffd"' },
]

for (const row of texts) test(`write text: ${row.name}`, () => assert.equal(writeText(row.text), row.written))

test('write: kind and apiVersion come first, and writeStoredFields omits them', () => {
  const object = struct('Object', { name: field(1, string) }, { typeMeta: true })
  const value = { name: 'n', apiVersion: 'v1', kind: 'Object' }
  assert.equal(writeValue(object, value), '{"kind":"Object","apiVersion":"v1","name":"n"}')
  assert.equal(writeStoredFields(object, value), '"name":"n"')
})

test('write: an empty list is stored as null at every depth', () => {
  const inner = struct('Inner', { items: field(1, list(string), { always: true }) })
  const outer = struct('Outer', { inner: field(1, inner), many: field(2, list(inner)) })
  const value = { inner: { items: [] }, many: [{ items: [] }, { items: ['a'] }] }
  assert.equal(writeValue(outer, value), '{"inner":{"items":[]},"many":[{"items":[]},{"items":["a"]}]}')
  assert.equal(writeStored(outer, value), '{"inner":{"items":null},"many":[{"items":null},{"items":["a"]}]}')
  assert.equal(`{${writeStoredFields(outer, value)}}`, writeStored(outer, value))
})

test('write: map keys are sorted by UTF-8 bytes', () => {
  const members = Object.fromEntries(['😀', '｡', 'é', 'z', 'a'].map((name) => [name, 1]))
  assert.equal(writeValue(map(int32), members), '{"a":1,"z":1,"é":1,"｡":1,"😀":1}')
})

test('long strings are escaped like short ones', () => {
  for (const special of ['', '<', '>', '&', '"', '\\', '\n', '\b', '\f', '\u2028', '\u2029', '\u0000', 'ö', '😀', '\ud800']) {
    const short = writeText(`a${special}b`)
    const padding = 'x'.repeat(200)
    assert.equal(writeText(`${padding}a${special}b`), `"${padding}${short.slice(1)}`, JSON.stringify(special))
  }
})

test('countBigNumbers counts encoded bigints', () => {
  const before = countBigNumbers()
  writeValue(thing, { big: 9007199254740991, raw: { text: '12345678901234567890', number: 1.5 } })
  assert.equal(countBigNumbers(), before)
  writeValue(thing, { big: 9223372036854775807n, raw: [12345678901234567890n] })
  assert.equal(countBigNumbers(), before + 2)
})

test('null lists and maps in other lists and maps are written as null', () => {
  const lists = struct('Lists', { extra: jsonField(map(list(string))), rows: jsonField(list(map(string))) })
  const { value } = readValue(lists, { extra: { a: null, b: [] }, rows: [null, {}] })
  assert.equal(writeValue(lists, value), '{"extra":{"a":null,"b":[]},"rows":[null,{}]}')
})
