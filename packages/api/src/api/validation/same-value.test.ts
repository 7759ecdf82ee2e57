// Values that say the same, and members that are there without a value.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameValue, sameValueBut } from './same-value.js'

test('a member that is undefined is one that is absent, on either side', () => {
  assert.ok(sameValue({ a: 1, b: undefined }, { a: 1 }))
  assert.ok(sameValue({ a: 1 }, { a: 1, b: undefined }))
  assert.ok(!sameValue({ a: 1, b: undefined }, { a: 1, b: { c: 2 } }))
  assert.ok(!sameValue({ a: 1, b: { c: 2 } }, { a: 1, b: undefined }))
  assert.ok(sameValueBut({ a: 1, b: undefined }, { a: 1, b: 2 }, ['b']))
})
