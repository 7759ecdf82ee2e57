// Tests of ApiError and values in error messages: truncated lists, shortened values and messages, escaped characters.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError, invalid, notFound } from './api-error.js'
import { duplicate, invalid as invalidField, quote, showValue } from './field-error.js'

const deployment = { group: 'apps', kind: 'Deployment' }

test('invalid() lists 100 errors and counts the rest', () => {
  const errors = Array.from({ length: 150_000 }, (_, i) => invalidField(`spec.values[${i}]`, 'x'.repeat(600), 'wrong'))
  const { status } = invalid(deployment, 'a', errors)
  assert.equal(status.details?.causes?.length, 100)
  assert.match(status.message, /^Deployment\.apps "a" is invalid: \[spec\.values\[0\]: .*spec\.values\[99\]: [^,]*, and 149900 more\]$/)
  assert.ok(status.message.length < 64 * 1024)
})

test('invalid() lists exactly 100 errors in full', () => {
  const errors = Array.from({ length: 100 }, (_, i) => duplicate(`f${i}`, i))
  const { status } = invalid(deployment, 'a', errors)
  assert.equal(status.details?.causes?.length, 100)
  assert.match(status.message, /f99: Duplicate value: 99\]$/)
})

test('names, fields and values are shortened to 256 characters', () => {
  const long = 'x'.repeat(100_000)
  const { status } = invalid(deployment, long, [invalidField(`data[${long}]`, long, 'wrong')])
  assert.ok(status.message.length < 1000)
  assert.ok((status.details?.name ?? '').length < 300)
  assert.ok(JSON.stringify(status).length < 3000)
  assert.ok(notFound({ ...deployment, resource: 'deployments' }, long).message.length < 400)
  assert.equal(quote('x'.repeat(256)), `"${'x'.repeat(256)}"`)
})

test('unprintable characters are escaped', () => {
  assert.equal(
    quote('a "b"\\\n\u0000\u0007\u000b\u007f\u00a0\u200b\u{e0001} \u00e4'),
    '"a \\"b\\"\\\\\\n\\x00\\a\\v\\x7f\\u00a0\\u200b\\U000e0001 \u00e4"',
  )
})

test('objects are shown as JSON, large ones truncated', () => {
  assert.equal(showValue({ a: [1, 'b', null, true], c: undefined, d: {} }), '{"a":[1,"b",null,true],"d":{}}')
  assert.equal(showValue({ big: 9007199254740993n }), '{"big":9007199254740992}')
  assert.equal(showValue([undefined]), '[null]')
  const large = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`k${i}`, { i }]))
  assert.ok(showValue(large).length < 2100)
  assert.ok(showValue([[['y'.repeat(5000)]]]).length < 300)
})

test('a message is limited in length', () => {
  assert.ok(new ApiError({ code: 400, message: 'x'.repeat(1_000_000) }).status.message.length < 132_000)
  assert.ok(ApiError.from(new Error('x'.repeat(1_000_000))).status.message.length < 1100)
})
