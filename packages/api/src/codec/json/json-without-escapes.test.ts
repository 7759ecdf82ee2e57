// Tests of the fast path for long bodies without escapes: it stores the same JSON as the slow path.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isMarkedEscapeFree } from '../../schema/json/escape-free-maps.js'
import { writeStored, writeText } from '../../schema/json/write.js'
import { field, map, string, struct } from '../../schema/node.js'
import { decodeJsonObject } from '../decode-object.js'

const schema = struct('Box', { data: field(1, map(string)), other: field(2, map(string)) }, { typeMeta: true })
const long = 'some text of no meaning '.repeat(200)
const decode = (body: Uint8Array) =>
  decodeJsonObject(body, { kind: 'Box', apiVersion: 'v1', schema }).object as { data: { [key: string]: string } }
const bodyOf = (data: object): Buffer => Buffer.from(JSON.stringify({ data, other: { a: 'b' } }))

/** A copy is not marked escape-free, so it takes the slow path. */
const assertSameAsSlowPath = (object: object): void =>
  assert.equal(writeStored(schema, object), writeStored(schema, structuredClone(object)))

test('a long body without escapes is marked escape-free and written like any other', () => {
  const object = decode(bodyOf({ b: long, a: 'x', '': '', 'key with spaces': '~ !#$%' }))
  assert.ok(isMarkedEscapeFree(object.data))
  assertSameAsSlowPath(object)
  assert.deepEqual(JSON.parse(writeStored(schema, object)).data, object.data)
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
  test(`a body with ${writeText(character)} (${character.codePointAt(0)}) is written like on the slow path`, () => {
    for (const data of [{ a: long + character }, { a: character + long, b: long }, { a: long, [`k${character}`]: 'x' }]) {
      const object = decode(bodyOf(data))
      assertSameAsSlowPath(object)
      assert.deepEqual(JSON.parse(writeStored(schema, object)).data, { ...object.data })
    }
  })
}

test('invalid UTF-8 of the same length is not marked escape-free', () => {
  const body = bodyOf({ a: `${long}#` })
  body[body.indexOf('#')] = 0xff
  const object = decode(body)
  assert.ok(object.data['a']?.endsWith('\ufffd'))
  assert.ok(!isMarkedEscapeFree(object.data))
  assertSameAsSlowPath(object)
})

test('a body with an escape is not marked escape-free', () => {
  const object = decode(Buffer.from(`{"data":{"a":"${long}","b":"\\u003c\\u0022\\n"}}`))
  assert.ok(!isMarkedEscapeFree(object.data))
  assert.equal(object.data['b'], '<"\n')
  assertSameAsSlowPath(object)
})

test('an escape-free map cannot be modified after decoding', () => {
  const { data } = decode(bodyOf({ a: long }))
  assert.ok(isMarkedEscapeFree(data))
  assert.throws(() => Object.assign(data, { a: '"' }), TypeError)
})
