// JSON without whitespace and managedFields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactJson, withoutManagedFields } from './compact-json.js'

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
  const expected = JSON.stringify(removeManagedFields(value))
  for (const [layout, text] of [
    ['compact', JSON.stringify(value)],
    ['indented', `${JSON.stringify(value, undefined, 2)}\n`],
  ] as const) {
    test(`removes whitespace and managedFields of ${layout} JSON: ${JSON.stringify(value)}`, () => {
      assert.equal(withoutManagedFields(text), expected)
      assert.equal(compactJson(text), JSON.stringify(value))
    })
  }
}

function removeManagedFields(value: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value)) as {
    metadata?: { managedFields?: unknown }
    items?: unknown[]
    rows?: { object?: unknown }[]
  }
  delete copy.metadata?.managedFields
  if (copy.items !== undefined) copy.items = copy.items.map(removeManagedFields)
  for (const row of copy.rows ?? []) row.object = removeManagedFields(row.object)
  return copy
}

test('numbers keep their spelling', () => {
  assert.equal(compactJson('{ "a": 12345678901234567890, "b": 1.0 }'), '{"a":12345678901234567890,"b":1.0}')
})
