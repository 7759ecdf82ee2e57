// The envelope: objects, lists and frames byte by byte, and bodies that are refused in words.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import * as meta from '../api/meta.schema.js'
import * as s from '../schema/node.js'
import {
  decodeProtobuf,
  decodeProtobufObject,
  encodeListItem,
  encodeProtobuf,
  encodeProtobufList,
  listSchemaOf,
  readEnvelope,
  wrapFrame,
} from './protobuf.js'

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

describe('the envelope', () => {
  test('an object', () => {
    assert.equal(hex(encodeProtobuf({ type, schema, object: note('a') })), `${head}1207${noteA}${end}`)
  })

  test('an object without any bytes of its own', () => {
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

  test('a frame of a watch', () => {
    const envelope = `${head}1207${noteA}${end}`
    const size = (text: string): string => (text.length / 2).toString(16).padStart(2, '0')
    const raw = `0a${size(envelope)}${envelope}`
    const event = `0a054144444544${'12'}${size(raw)}${raw}`
    assert.equal(hex(wrapFrame('ADDED', type, encodeListItem(schema, note('a')))), `000000${size(event)}${event}`)
  })

  test('a list from items that were made before', () => {
    const items = [encodeListItem(schema, note('a')), encodeListItem(schema, note('b', 'x'))]
    const list = encodeProtobufList({ type: { apiVersion: 'v1', kind: 'NoteList' }, metadata: { resourceVersion: '7' }, items })
    const object = { metadata: { resourceVersion: '7' }, items: [note('a'), note('b', 'x')] }
    assert.equal(hex(...list), hex(encodeProtobuf({ type: { apiVersion: 'v1', kind: 'NoteList' }, schema: listSchemaOf(schema), object })))
  })

  test('an empty list', () => {
    const list = encodeProtobufList({ type: { apiVersion: 'v1', kind: 'NoteList' }, metadata: {}, items: [] })
    assert.deepEqual(decodeProtobuf(listSchemaOf(schema), readEnvelope(Buffer.concat(list)).raw), { metadata: {} })
  })

  test('what else an envelope says', () => {
    const { contentEncoding, contentType } = readEnvelope(bytes(`${head}1a04677a6970220161`))
    assert.deepEqual({ contentEncoding, contentType }, { contentEncoding: 'gzip', contentType: 'a' })
  })
})

const expected = { ...type, schema }
const unrecognized = 'the object provided is unrecognized (must be of type Note): '
const cannot = 'Note in version "v1" cannot be handled as a Note: '

const refusals: readonly { readonly name: string; readonly body: string; readonly message: string }[] = [
  { name: 'nothing', body: '', message: `${unrecognized}empty data (<empty>)` },
  {
    name: 'no magic',
    body: '0a020a00',
    message: `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] (0a020a00)`,
  },
  {
    name: 'JSON',
    body: Buffer.from('{"a":1}').toString('hex'),
    message: `${unrecognized}provided data does not appear to be a protobuf message, expected prefix [107 56 115 0] ({"a":1})`,
  },
  { name: 'magic alone', body: '6b387300', message: `${unrecognized}empty body (6b387300)` },
  { name: 'an envelope cut short', body: '6b3873000a0a0a02', message: `${unrecognized}unexpected EOF (6b3873000a0a0a02)` },
  { name: 'a message cut short', body: `${head}1203ffffff`, message: `${cannot}unexpected EOF` },
  { name: 'JSON in the place of the message', body: `${head}12077b2261223a317d220161`, message: `${cannot}unexpected EOF` },
]

describe('bodies', () => {
  test('an object of the expected kind', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`${head}1207${noteA}${end}`), expected), {
      object: { metadata: { name: 'a' } },
      problems: [],
    })
  })
  test('without a type', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`6b3873001207${noteA}`), expected).object, { metadata: { name: 'a' } })
  })
  test('unknown fields are no problem', () => {
    assert.deepEqual(decodeProtobufObject(bytes(`${head}1203980607`), expected), { object: {}, problems: [] })
  })
  test('another kind', () => {
    const other = encodeProtobuf({ type: { apiVersion: 'v1', kind: 'Other' }, schema, object: {} })
    assert.throws(() => decodeProtobufObject(other, expected), /^ApiError: Other in version "v1" cannot be handled as a Note/)
  })
  test('another version', () => {
    const other = encodeProtobuf({ type: { apiVersion: 'v2', kind: 'Note' }, schema, object: {} })
    assert.throws(() => decodeProtobufObject(other, expected), /does not match the expected API version \(v1\)/)
  })
  for (const { name, body, message } of refusals) {
    test(`refused: ${name}`, () => {
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
  test('integers beyond 2^53 in JSON inside', () => {
    const raw = s.struct('Raw', { x: s.field(1, s.any('raw')) })
    const message = readEnvelope(encodeProtobuf({ type, schema: raw, object: { x: { n: 9007199254740993n } } })).raw
    assert.deepEqual(decodeProtobuf(raw, message), { x: { n: 9007199254740993n } })
  })
})
