// Long bodies without anything that needs an escape are stored without a look at each text: that must never show.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { field, map, string, struct } from '../schema/node.js'
import { isMarkedPlain } from '../schema/plain-maps.js'
import { writeStored, writeText } from '../schema/write.js'
import { decodeJsonObject } from './decode-object.js'

const schema = struct('Box', { data: field(1, map(string)), other: field(2, map(string)) }, { typeMeta: true })
const long = 'some text of no meaning '.repeat(200)
const decode = (body: Uint8Array) =>
  decodeJsonObject(body, { kind: 'Box', apiVersion: 'v1', schema }).object as { data: { [key: string]: string } }
const bodyOf = (data: object): Buffer => Buffer.from(JSON.stringify({ data, other: { a: 'b' } }))

/** A copy is of no known origin, and so each of its texts is looked at. */
const assertWrittenAlike = (object: object): void => assert.equal(writeStored(schema, object), writeStored(schema, structuredClone(object)))

test('texts of a long and plain body are known to be plain, and written like all others', () => {
  const object = decode(bodyOf({ b: long, a: 'x', '': '', 'key with spaces': '~ !#$%' }))
  assert.ok(isMarkedPlain(object.data))
  assertWrittenAlike(object)
  assert.deepEqual(JSON.parse(writeStored(schema, object)).data, object.data)
})

test('a short body is not worth a look', () => {
  assert.ok(!isMarkedPlain(decode(bodyOf({ a: 'x' })).data))
})

const characters = [
  '<',
  '>',
  '&',
  '"',
  '\\',
  '\n',
  '\t',
  '\0',
  '\u001f',
  '\u007f',
  '\b',
  '\f',
  'ä',
  'ÿ',
  '\u2028',
  '\u2029',
  '\ufffd',
  '😀',
]

for (const character of characters) {
  test(`a body with ${writeText(character)} (${character.codePointAt(0)}) somewhere is written as if each text was looked at`, () => {
    for (const data of [{ a: long + character }, { a: character + long, b: long }, { a: long, [`k${character}`]: 'x' }]) {
      const object = decode(bodyOf(data))
      assertWrittenAlike(object)
      assert.deepEqual(JSON.parse(writeStored(schema, object)).data, { ...object.data })
    }
  })
}

test('bytes that are no text are not taken for plain ones, though they are as many as what they are read as', () => {
  const body = bodyOf({ a: `${long}#` })
  body[body.indexOf('#')] = 0xff
  const object = decode(body)
  assert.ok(object.data['a']?.endsWith('\ufffd'))
  assert.ok(!isMarkedPlain(object.data))
  assertWrittenAlike(object)
})

test('what stands in the body as an escape may be anything', () => {
  const object = decode(Buffer.from(`{"data":{"a":"${long}","b":"\\u003c\\u0022\\n"}}`))
  assert.ok(!isMarkedPlain(object.data))
  assert.equal(object.data['b'], '<"\n')
  assertWrittenAlike(object)
})

test('nobody can change what is written as it came', () => {
  const { data } = decode(bodyOf({ a: long }))
  assert.ok(isMarkedPlain(data))
  assert.throws(() => Object.assign(data, { a: '"' }), TypeError)
})
