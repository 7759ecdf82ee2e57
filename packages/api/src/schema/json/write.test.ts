// Writing values by a schema: one canonical text.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, boolean, field, int32, int64, jsonField, list, map, string, struct, time } from './node.js'
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

const rows: readonly { name: string; value: object; text: string }[] = [
  { name: 'what is always written, and plain structs', value: {}, text: '{"must":"","items":null,"spec":{"since":null}}' },
  { name: 'a list without items', value: { items: [] }, text: '{"must":"","items":[],"spec":{"since":null}}' },
  {
    name: 'fields in the order of the schema, keys sorted',
    value: { labels: { b: '1', a: '2' }, name: 'n', must: 'm', items: [], spec: { a: 'x', since: '2020-01-01T00:00:00Z' } },
    text: '{"name":"n","must":"m","items":[],"labels":{"a":"2","b":"1"},"spec":{"a":"x","since":"2020-01-01T00:00:00Z"}}',
  },
  {
    name: 'pointers to zero',
    value: { flag: false, ref: {} },
    text: '{"must":"","items":null,"flag":false,"spec":{"since":null},"ref":{"since":null}}',
  },
  { name: 'zero values are left out', value: { count: 0, labels: {}, name: '' }, text: '{"must":"","items":null,"spec":{"since":null}}' },
  {
    name: 'long integers',
    value: { big: 9223372036854775807n },
    text: '{"must":"","items":null,"spec":{"since":null},"big":9223372036854775807}',
  },
  {
    name: 'free JSON',
    value: { raw: { '<': ['&', null, 1.5] } },
    text: '{"must":"","items":null,"spec":{"since":null},"raw":{"\\u003c":["\\u0026",null,1.5]}}',
  },
]

for (const row of rows) test(`write: ${row.name}`, () => assert.equal(writeValue(thing, row.value), row.text))

const texts: readonly { name: string; text: string; written: string }[] = [
  { name: 'plain', text: 'größe', written: '"größe"' },
  { name: 'angle brackets and ampersands', text: '<a&b>', written: '"\\u003ca\\u0026b\\u003e"' },
  { name: 'quotes and backslashes', text: 'a"b\\c', written: '"a\\"b\\\\c"' },
  { name: 'control characters', text: '\b\f\n\u0001', written: '"\\u0008\\u000c\\n\\u0001"' },
  { name: 'a backslash before a letter stays one', text: '\\b<', written: '"\\\\b\\u003c"' },
  { name: 'line separators', text: '\u2028', written: '"\\u2028"' },
  { name: 'half a character', text: '\ud800', written: '"\ufffd"' },
]

for (const row of texts) test(`write text: ${row.name}`, () => assert.equal(writeText(row.text), row.written))

test('write: kind and apiVersion stand first, and writeStoredFields leaves them out', () => {
  const object = struct('Object', { name: field(1, string) }, { typeMeta: true })
  const value = { name: 'n', apiVersion: 'v1', kind: 'Object' }
  assert.equal(writeValue(object, value), '{"kind":"Object","apiVersion":"v1","name":"n"}')
  assert.equal(writeStoredFields(object, value), '"name":"n"')
})

test('write: a list without items is stored like one that is absent, at every depth', () => {
  const inner = struct('Inner', { items: field(1, list(string), { always: true }) })
  const outer = struct('Outer', { inner: field(1, inner), many: field(2, list(inner)) })
  const value = { inner: { items: [] }, many: [{ items: [] }, { items: ['a'] }] }
  assert.equal(writeValue(outer, value), '{"inner":{"items":[]},"many":[{"items":[]},{"items":["a"]}]}')
  assert.equal(writeStored(outer, value), '{"inner":{"items":null},"many":[{"items":null},{"items":["a"]}]}')
  assert.equal(`{${writeStoredFields(outer, value)}}`, writeStored(outer, value))
})

test('write: the members of a map are in the order of their bytes', () => {
  const members = Object.fromEntries(['😀', '｡', 'é', 'z', 'a'].map((name) => [name, 1]))
  assert.equal(writeValue(map(int32), members), '{"a":1,"z":1,"é":1,"｡":1,"😀":1}')
})

test('long texts are written like short ones', () => {
  for (const odd of ['', '<', '>', '&', '"', '\\', '\n', '\b', '\f', '\u2028', '\u2029', '\u0000', 'ö', '😀', '\ud800']) {
    const short = writeText(`a${odd}b`)
    const around = 'x'.repeat(200)
    assert.equal(writeText(`${around}a${odd}b`), `"${around}${short.slice(1)}`, JSON.stringify(odd))
  }
})

test('numbers that a plain parse would change are counted', () => {
  const before = countBigNumbers()
  writeValue(thing, { big: 9007199254740991, raw: { text: '12345678901234567890', number: 1.5 } })
  assert.equal(countBigNumbers(), before)
  writeValue(thing, { big: 9223372036854775807n, raw: [12345678901234567890n] })
  assert.equal(countBigNumbers(), before + 2)
})

test('a list or map that is null inside of another is written as null', () => {
  const lists = struct('Lists', { extra: jsonField(map(list(string))), rows: jsonField(list(map(string))) })
  const { value } = readValue(lists, { extra: { a: null, b: [] }, rows: [null, {}] })
  assert.equal(writeValue(lists, value), '{"extra":{"a":null,"b":[]},"rows":[null,{}]}')
})
