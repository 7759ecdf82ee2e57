// Tests of JSON equality with undefined members.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sameValue, sameValueBut } from './same-value.js'

test('an undefined member equals an absent one on either side', () => {
  assert.ok(sameValue({ a: 1, b: undefined }, { a: 1 }))
  assert.ok(sameValue({ a: 1 }, { a: 1, b: undefined }))
  assert.ok(!sameValue({ a: 1, b: undefined }, { a: 1, b: { c: 2 } }))
  assert.ok(!sameValue({ a: 1, b: { c: 2 } }, { a: 1, b: undefined }))
  assert.ok(sameValueBut({ a: 1, b: undefined }, { a: 1, b: 2 }, ['b']))
})
