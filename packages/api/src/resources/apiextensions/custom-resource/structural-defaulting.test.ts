// Tests of structural defaulting and of its size limit.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { RequestDefaultingBudget, StoredDefaultingBudget, withDefaults } from './structural-defaulting.js'

const large = 'x'.repeat(10_000)
const schema: JsonSchema = frozen({
  type: 'array',
  items: { type: 'object', properties: { a: { type: 'string', default: large }, b: { type: 'object', default: {} } } },
})
const empty = (count: number): readonly object[] => frozen(Array.from({ length: count }, () => ({})))

test('each list item gets its own copy of a default', () => {
  const filled = withDefaults(empty(2), schema, new RequestDefaultingBudget()) as readonly { readonly b: object }[]
  assert.deepEqual(filled, [
    { a: large, b: {} },
    { a: large, b: {} },
  ])
  assert.notEqual(filled[0]?.b, filled[1]?.b)
})

test('integers beyond 2^53 are copied, beyond int64 rounded', () => {
  const schemaWithDefault = (value: bigint): JsonSchema => ({ type: 'object', properties: { i: { type: 'integer', default: value } } })
  assert.deepEqual(withDefaults({}, schemaWithDefault(9007199254740993n), new RequestDefaultingBudget()), { i: 9007199254740993n })
  assert.deepEqual(withDefaults({}, schemaWithDefault(9223372036854775808n), new StoredDefaultingBudget()), { i: 2 ** 63 })
})

test('defaults beyond the limit return 413, also in place of null', () => {
  assert.throws(() => withDefaults(empty(5000), schema, new RequestDefaultingBudget()), /defaults add more than 524288 bytes/)
  const nulls = Array.from({ length: 5000 }, () => null)
  const items: JsonSchema = { type: 'array', items: { type: 'string', default: large } }
  assert.throws(() => withDefaults(nulls, items, new RequestDefaultingBudget()), /defaults add more than 524288 bytes/)
})

test('stored objects get defaults up to the limit', () => {
  const filled = withDefaults(empty(5000), schema, new StoredDefaultingBudget()) as readonly { readonly a?: string }[]
  const count = filled.filter(({ a }) => a !== undefined).length
  assert.ok(count > 40 && count < 60, `${count} of 5000`)
})
