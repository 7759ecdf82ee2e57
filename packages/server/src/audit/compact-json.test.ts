// JSON texts without spaces and without managed fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactJson, withoutManagedFields } from './cut-json.js'

for (const value of [
  {},
  [],
  { metadata: { managedFields: [{ a: '}"]' }] } },
  { metadata: { name: 'x', managedFields: [1, { a: [] }], uid: 'u' } },
  { metadata: { managedFields: [], name: 'x' } },
  { metadata: { name: 'x', managedFields: null }, data: { managedFields: 'stays' } },
  {
    items: [
      { metadata: { managedFields: [1] } },
      { metadata: { name: 'b', managedFields: [1] }, spec: { metadata: { managedFields: 2 } } },
    ],
  },
  { rows: [{ cells: [1, 'a,b'], object: { metadata: { name: 'r', managedFields: [1] } } }] },
  { text: 'a "quoted" \\ \n text', big: 1 },
]) {
  const expected = JSON.stringify(cut(value))
  for (const [form, text] of [
    ['compact', JSON.stringify(value)],
    ['indented', `${JSON.stringify(value, undefined, 2)}\n`],
  ] as const) {
    test(`${form}: ${JSON.stringify(value)}`, () => {
      assert.equal(withoutManagedFields(text), expected)
      assert.equal(compactJson(text), JSON.stringify(value))
    })
  }
}

/** The same by way of values. */
function cut(value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as {
    metadata?: { managedFields?: unknown }
    items?: unknown[]
    rows?: { object?: unknown }[]
  }
  delete copy.metadata?.managedFields
  if (copy.items !== undefined) copy.items = copy.items.map(cut)
  for (const row of copy.rows ?? []) row.object = cut(row.object)
  return copy
}

test('numbers stay as they were written', () => {
  assert.equal(compactJson('{ "a": 12345678901234567890, "b": 1.0 }'), '{"a":12345678901234567890,"b":1.0}')
})

test('many items take as long as they are', () => {
  const items = Array.from({ length: 20_000 }, (_, i) => ({ metadata: { name: `n${i}`, managedFields: [{ f: i }] } }))
  const begun = process.cpuUsage().user
  const text = withoutManagedFields(JSON.stringify({ items }))
  assert.ok(process.cpuUsage().user - begun < 2_000_000)
  assert.ok(!text.includes('managedFields'))
})
