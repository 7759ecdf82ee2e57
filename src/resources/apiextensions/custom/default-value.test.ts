// Defaults fill in what is missing, and no more of it than an object may hold.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../json-schema.js'
import { withDefaults } from './default-value.js'
import { RefusingFilling, SparingFilling } from './filling.js'

const large = 'x'.repeat(10_000)
const schema: JsonSchema = frozen({
  type: 'array',
  items: { type: 'object', properties: { a: { type: 'string', default: large }, b: { type: 'object', default: {} } } },
})
const empty = (count: number): readonly object[] => frozen(Array.from({ length: count }, () => ({})))

test('each item gets its own', () => {
  const filled = withDefaults(empty(2), schema, new RefusingFilling()) as readonly { readonly b: object }[]
  assert.deepEqual(filled, [
    { a: large, b: {} },
    { a: large, b: {} },
  ])
  assert.notEqual(filled[0]?.b, filled[1]?.b)
})

test('too many defaults are refused, also in place of null', () => {
  assert.throws(() => withDefaults(empty(5000), schema, new RefusingFilling()), /defaults add more than 524288 bytes/)
  const nulls = Array.from({ length: 5000 }, () => null)
  const items: JsonSchema = { type: 'array', items: { type: 'string', default: large } }
  assert.throws(() => withDefaults(nulls, items, new RefusingFilling()), /defaults add more than 524288 bytes/)
})

test('what is stored already is filled as far as there is room', () => {
  const filled = withDefaults(empty(5000), schema, new SparingFilling()) as readonly { readonly a?: string }[]
  const count = filled.filter(({ a }) => a !== undefined).length
  assert.ok(count > 40 && count < 60, `${count} of 5000`)
})
