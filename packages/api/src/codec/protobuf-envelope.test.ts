// Tests of the Protobuf envelope: objects, lists and watch frames byte by byte, error messages for invalid bodies.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import * as meta from '../api/meta.schema.js'
import * as s from '../schema/node.js'
import { decodeProtobufObject } from './decode-object.js'
import {
  decodeProtobuf,
  encodeListItem,
  encodeProtobuf,
  encodeProtobufList,
  listSchemaOf,
  readEnvelope,
  wrapFrame,
} from './protobuf-envelope.js'

const schema = s.struct(
  'Note',
  { metadata: s.field(1, s.struct('Meta', { name: s.field(1, s.string) })), text: s.field(2, s.string) },
  { typeMeta: true },
)
const type = { apiVersion: 'v1', kind: 'Note' }
const note = (name: string, text = '') => ({ metadata: { name }, text })
const hex = (...parts: readonly Uint8Array[]): string => Buffer.concat(parts).toString('hex')
const bytes = (text: string): Uint8Array => Buffer.from(text, 'hex')

const head = '6b3873000a0a0a0276311204'.concat(Buffer.from('Note').toString('hex'))
const noteA = '0a030a01611200'
const end = '1a002200'

describe('encoded envelopes', () => {
  test('an object', () => {
    assert.equal(hex(encodeProtobuf({ type, schema, object: note('a') })), `${head}1207${noteA}${end}`)
  })

  test('an object with an empty message', () => {
    const empty = s.struct('Empty', {})
    assert.equal(hex(encodeProtobuf({ type: { apiVersion: '', kind: '' }, schema: empty, object: {} })), `6b3873000a040a0012001200${end}`)
  })

  test('a Status', () => {
    const object = { metadata: {}, status: 'Failure', message: 'no', code: 404, details: { name: 'a' } }
    const encoded = encodeProtobuf({ type: { apiVersion: 'v1', kind: 'Status' }, schema: meta.status, object })
    const envelope = readEnvelope(encoded)
    assert.equal(envelope.kind, 'Status')
    assert.equal(hex(envelope.raw), '0a060a0012001a0012074661696c7572651a026e6f22002a0b0a016112001a002800320030'.concat('9403'))
    assert.deepEqual(decodeProtobuf(meta.status, envelope.raw), object)
  })

  test('a watch frame', () => {
    const envelope = `${head}1207${noteA}${end}`
    const size = (text: string): string => (text.length / 2).toString(16).padStart(2, '0')
    const raw = `0a${size(envelope)}${envelope}`
    const event = `0a054144444544${'12'}${size(raw)}${raw}`
    assert.equal(hex(wrapFrame('ADDED', type, encodeListItem(schema, note('a')))), `000000${size(event)}${event}`)
  })

  test('a list built from cached items', () => {
    const items = [encodeListItem(schema, note('a')), encodeListItem(schema, note('b', 'x'))]
    const list = encodeProtobufList({ type: { apiVersion: 'v1', kind: 'NoteList' }, metadata: { resourceVersion: '7' }, items })
    const object = { metadata: { resourceVersion: '7' }, items: [note('a'), note('b', 'x')] }
    assert.equal(hex(...list), hex(encodeProtobuf({ type: { apiVersion: 'v1', kind: 'NoteList' }, schema: listSchemaOf(schema), object })))
  })

  test('an empty list', () => {
    const list = encodeProtobufList({ type: { apiVersion: 'v1', kind: 'NoteList' }, metadata: {}, items: [] })
    assert.deepEqual(decodeProtobuf(listSchemaOf(schema), readEnvelope(Buffer.concat(list)).raw), { metadata: {} })
  })

  test('contentEncoding and contentType of an envelope', () => {
    const { contentEncoding, contentType } = readEnvelope(bytes(`${head}1a04677a6970220161`))
    assert.deepEqual({ contentEncoding, contentType }, { contentEncoding: 'gzip', contentType: 'a' })
  })
})

const expected = { ...type, schema }
const unrecognized = 'the object provided is unrecognized (must be of type Note): '
const cannotBeHandled = 'Note in version "v1" cannot be handled as a Note: '

const refusals: readonly (readonly [name: string, body: string, message: string])[] = [
  ['an empty body', '', `${unrecognized}empty data (<empty>)`],
  [
    'no magic bytes',
    '0a020a00',
    `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (0a020a00)`,
  ],
  [
    'JSON',
    Buffer.from('{"a":1}').toString('hex'),
    `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"a":1})`,
  ],
  ['magic bytes only', '6b387300', `${unrecognized}empty body (6b387300)`],
  ['a truncated envelope', '6b3873000a0a0a02', `${unrecognized}unexpected EOF (6b3873000a0a0a02)`],
  ['a truncated message', `${head}1203ffffff`, `${cannotBeHandled}unexpected EOF`],
  ['JSON instead of the Protobuf message', `${head}12077b2261223a317d220161`, `${cannotBeHandled}unexpected EOF`],
]

describe('request bodies', () => {
  test('an object of the expected kind is decoded', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`${head}1207${noteA}${end}`), expected), {
      object: { metadata: { name: 'a' } },
      problems: [],
    })
  })
  test('an object without a type is decoded', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`6b3873001207${noteA}`), expected).object, { metadata: { name: 'a' } })
  })
  test('unknown fields are ignored', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`${head}1203980607`), expected), { object: {}, problems: [] })
  })
  test('another kind is rejected', () => {
    const other = encodeProtobuf({ type: { apiVersion: 'v1', kind: 'Other' }, schema, object: {} })
    assert.throws(() => decodeProtobufObject(other, expected), /^ApiError: Other in version "v1" cannot be handled as a Note/)
  })
  test('another version is rejected', () => {
    const other = encodeProtobuf({ type: { apiVersion: 'v2', kind: 'Note' }, schema, object: {} })
    assert.throws(() => decodeProtobufObject(other, expected), /does not match the expected API version \(v1\)/)
  })
  for (const [name, body, message] of refusals) {
    test(`rejected: ${name}`, () => {
      assert.throws(
        () => decodeProtobufObject(bytes(body), expected),
        (thrown) => {
          assert.ok(thrown instanceof ApiError)
          assert.equal(thrown.status.code, 400)
          assert.equal(thrown.message, message)
          return true
        },
      )
    })
  }
  test('integers beyond 2^53 in embedded JSON are kept', () => {
    const raw = s.struct('Raw', { x: s.field(1, s.any('raw')) })
    const message = readEnvelope(encodeProtobuf({ type, schema: raw, object: { x: { n: 9007199254740993n } } })).raw
    assert.deepEqual(decodeProtobuf(raw, message), { x: { n: 9007199254740993n } })
  })
})
