// Removal of null fields from stored JSON, and schemas for which it is impossible.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { any, bytes, field, lazy, list, map, string, struct, time } from '../node.js'
import { withoutNullFields } from './null-fields.js'
import { readValue } from './read.js'
import { writeValue } from './write.js'

const inner = struct('Inner', { since: field(1, time), name: field(2, string), until: field(3, time) })
const thing = struct('Thing', {
  since: field(1, time),
  name: field(2, string),
  many: field(3, list(inner)),
  words: field(4, map(string)),
  one: field(5, inner, { pointer: true }),
  owned: field(6, any('fields'), { pointer: true }),
  until: field(7, time),
})

const values: readonly object[] = [
  {},
  { name: 'n' },
  { name: '"since":null,', words: { since: '"until":null', until: '\\"since\\":null' } },
  { many: [{}, { name: 'a' }, { since: '2024-01-01T00:00:00Z' }, { until: '2024-01-01T00:00:00Z' }], one: {} },
  { since: '2024-01-01T00:00:00Z', until: '2024-01-01T00:00:00Z', words: { 'since":null': 'x' }, owned: { 'f:since': {} } },
]

for (const value of values) {
  test(`the result reads like the original text: ${JSON.stringify(value)}`, () => {
    const text = writeValue(thing, value)
    const without = withoutNullFields(thing, text)
    assert.ok(without !== undefined && !without.includes(':null}') && !without.includes(',,'))
    assert.deepEqual(readValue(thing, JSON.parse(without)).value, readValue(thing, JSON.parse(text)).value)
    assert.deepEqual(
      JSON.parse(without),
      JSON.parse(text, (key, member) => (member === null && key !== '' ? undefined : member)),
    )
  })
}

const ambiguous = {
  'JSON of any shape': struct('Any', { since: field(1, time), raw: field(2, any('raw')) }),
  'maps with members that may be null': struct('Bytes', { since: field(1, time), data: field(2, map(bytes)) }),
  'nested JSON of any shape': struct('Deep', { since: field(1, time), a: field(2, list(struct('B', { c: field(1, any('json')) }))) }),
}

for (const [name, schema] of Object.entries(ambiguous))
  test(`withoutNullFields returns undefined for ${name}`, () => assert.equal(withoutNullFields(schema, '{"since":null}'), undefined))

test('null fields of recursive schemas are removed', () => {
  const node: Parameters<typeof withoutNullFields>[0] = struct('Node', {
    since: field(1, time),
    next: field(
      2,
      lazy(() => node),
      { pointer: true },
    ),
  })
  assert.equal(withoutNullFields(node, '{"since":null,"next":{"since":null}}'), '{"next":{}}')
})
