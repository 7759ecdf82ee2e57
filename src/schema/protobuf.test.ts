// Values and their messages, byte by byte; and bytes that are no messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ProtobufReadError } from '../base/protobuf-reader.js'
import * as s from './node.js'
import { decodeMessage, encodeMessage } from './protobuf.js'

const inner = s.struct('Inner', { name: s.field(1, s.string, { always: true }), port: s.field(2, s.int32) })
const lazySelf = s.lazy(() => tree)
const tree: s.StructNode = s.struct('Tree', {
  value: s.field(1, s.int32, { pointer: true }),
  children: s.field(2, s.list(lazySelf)),
  named: s.field(3, s.map(lazySelf)),
})
const anySchema = (form: s.AnyNode['form']) => s.any(form, lazySelf)

/** A message with one field, so that the rows show nothing else. */
const one = (node: s.SchemaNode, options: { readonly pointer?: boolean } = {}) => s.struct('One', { x: s.field(1, node, options) })
const pointer = { pointer: true }

interface Row {
  readonly name: string
  readonly schema: s.StructNode
  readonly value: unknown
  readonly hex: string
  /** What comes back where it is not what went in. */
  readonly back?: unknown
}

const rows: readonly Row[] = [
  { name: 'an absent text is written', schema: one(s.string), value: {}, hex: '0a00' },
  { name: 'an absent pointer is not', schema: one(s.string, pointer), value: {}, hex: '' },
  { name: 'an empty text behind a pointer', schema: one(s.string, pointer), value: { x: '' }, hex: '0a00' },
  { name: 'a short text', schema: one(s.string), value: { x: 'ab' }, hex: '0a026162' },
  { name: 'a short text that is not ASCII', schema: one(s.string), value: { x: 'aä€😀' }, hex: '0a0a61c3a4e282acf09f9880' },
  { name: 'half a character', schema: one(s.string), value: { x: 'a\ud800' }, hex: '0a0461efbfbd', back: { x: 'a\ufffd' } },
  { name: 'a long text', schema: one(s.string), value: { x: 'a'.repeat(200) }, hex: `0ac801${'61'.repeat(200)}` },
  { name: 'a long text that is not ASCII', schema: one(s.string), value: { x: `${'a'.repeat(50)}ä` }, hex: `0a34${'61'.repeat(50)}c3a4` },
  { name: 'no is written', schema: one(s.boolean), value: {}, hex: '0800' },
  { name: 'yes', schema: one(s.boolean), value: { x: true }, hex: '0801' },
  { name: 'no behind a pointer', schema: one(s.boolean, pointer), value: { x: false }, hex: '0800' },
  { name: 'a small integer', schema: one(s.int32), value: { x: 300 }, hex: '08ac02' },
  { name: 'the largest int32', schema: one(s.int32), value: { x: 2147483647 }, hex: '08ffffffff07' },
  { name: 'a negative integer takes ten bytes', schema: one(s.int32), value: { x: -1 }, hex: '08ffffffffffffffffff01' },
  { name: 'beyond 32 bits', schema: one(s.int64), value: { x: 2 ** 40 }, hex: '08808080808020' },
  { name: 'a negative long integer', schema: one(s.int64), value: { x: -5 }, hex: '08fbffffffffffffffff01' },
  { name: 'the largest int64', schema: one(s.int64), value: { x: 9223372036854775807n }, hex: '08ffffffffffffffff7f' },
  { name: 'a number', schema: one(s.number), value: { x: 1.5 }, hex: '09000000000000f83f' },
  { name: 'absent bytes are not written', schema: one(s.bytes), value: {}, hex: '' },
  { name: 'bytes', schema: one(s.bytes), value: { x: 'AAEC/w==' }, hex: '0a04000102ff' },
  { name: 'no time', schema: one(s.time), value: {}, hex: '0a00' },
  { name: 'the year 1 is no time', schema: one(s.time), value: { x: '0001-01-01T00:00:00Z' }, hex: '0a00', back: {} },
  { name: 'a time', schema: one(s.time), value: { x: '2008-01-01T01:01:01Z' }, hex: '0a0808cda1e6bb041000' },
  { name: 'the beginning of 1970', schema: one(s.time), value: { x: '1970-01-01T00:00:00Z' }, hex: '0a0408001000' },
  { name: 'before 1970', schema: one(s.time), value: { x: '1969-12-31T23:59:59Z' }, hex: '0a0d08ffffffffffffffffff011000' },
  { name: 'a time of antiquity', schema: one(s.time), value: { x: '0099-01-01T00:00:00Z' }, hex: '0a0d0880c88d86a4feffffff011000' },
  {
    name: 'an exact time',
    schema: one(s.microTime),
    value: { x: '2008-01-01T01:01:01.000005Z' },
    hex: '0a0908cda1e6bb04108827',
  },
  { name: 'a duration', schema: one(s.duration), value: { x: '1m30s' }, hex: '0a07088088aca3cf02' },
  { name: 'no quantity is zero', schema: one(s.quantity), value: {}, hex: '0a030a0130', back: { x: '0' } },
  { name: 'a quantity', schema: one(s.quantity), value: { x: '1500m' }, hex: '0a070a05313530306d' },
  { name: 'an integer or text: integer', schema: one(s.intOrString), value: { x: 80 }, hex: '0a06080010501a00' },
  { name: 'an integer or text: text', schema: one(s.intOrString), value: { x: 'web' }, hex: '0a09080110001a03776562' },
  { name: 'an integer or text: zero stays', schema: one(s.intOrString), value: { x: 0 }, hex: '0a06080010001a00' },
  { name: 'a struct is written when absent', schema: one(inner), value: {}, hex: '0a040a001000', back: { x: {} } },
  { name: 'a struct', schema: one(inner), value: { x: { name: 'a', port: 1 } }, hex: '0a050a01611001' },
  { name: 'an empty list', schema: one(s.list(s.string)), value: { x: [] }, hex: '', back: {} },
  { name: 'a list of texts', schema: one(s.list(s.string)), value: { x: ['a', '', 'b'] }, hex: '0a01610a000a0162' },
  { name: 'a list of integers', schema: one(s.list(s.int32)), value: { x: [1, 0, -1] }, hex: '0801080008ffffffffffffffffff01' },
  { name: 'a list of structs', schema: one(s.list(inner)), value: { x: [{}, { name: 'a' }] }, hex: '0a040a0010000a050a01611000' },
  { name: 'a map by its keys', schema: one(s.map(s.string)), value: { x: { b: '2', a: '1' } }, hex: '0a060a01611201310a060a0162120132' },
  { name: 'a map of bytes', schema: one(s.map(s.bytes)), value: { x: { a: '', b: '/w==' } }, hex: '0a050a016112000a060a01621201ff' },
  { name: 'no bytes in a map', schema: one(s.map(s.bytes)), value: { x: { a: null } }, hex: '0a030a0161', back: { x: { a: '' } } },
  { name: 'a map of quantities', schema: one(s.map(s.quantity)), value: { x: { a: '1' } }, hex: '0a080a016112030a0131' },
  { name: 'a map of times', schema: one(s.map(s.time)), value: { x: { a: null } }, hex: '0a050a01611200' },
  {
    name: 'a map of lists that are messages',
    schema: one(s.map(s.list(s.string, { protoWrapped: true }))),
    value: { x: { a: ['b', 'c'], d: null } },
    hex: '0a0b0a016112060a01620a01630a050a01641200',
  },
  { name: 'a list that is a message', schema: one(s.list(s.string, { protoWrapped: true })), value: { x: ['a'] }, hex: '0a030a0161' },
  { name: 'a list that is a message, absent', schema: one(s.list(s.string, { protoWrapped: true })), value: {}, hex: '' },
  { name: 'JSON as it came', schema: one(s.any('raw')), value: { x: { b: 1, a: '<' } }, hex: '0a110a0f7b2262223a312c2261223a223c227d' },
  { name: 'no JSON', schema: one(s.any('raw')), value: {}, hex: '0a00' },
  { name: 'no JSON behind a pointer', schema: one(s.any('json'), pointer), value: {}, hex: '' },
  { name: 'null in a list of JSON', schema: one(s.list(s.any('json'))), value: { x: [null, 1] }, hex: '0a000a030a0131' },
  {
    name: 'JSON in an envelope',
    schema: one(s.any('unknown'), pointer),
    value: { x: 1 },
    hex: `0a1d0a040a0012001201311a002210${Buffer.from('application/json').toString('hex')}`,
  },
  {
    name: 'a schema that contains itself',
    schema: tree,
    value: { value: 1, children: [{ value: 2, children: [{}] }] },
    hex: '0801120408021200',
  },
  { name: 'schema or list: a schema', schema: one(anySchema('schemaOrArray'), pointer), value: { x: { value: 1 } }, hex: '0a040a020801' },
  {
    name: 'schema or list: a list',
    schema: one(anySchema('schemaOrArray'), pointer),
    value: { x: [{}, { value: 1 }] },
    hex: '0a06120012020801',
  },
  { name: 'schema or yes: a schema', schema: one(anySchema('schemaOrBool'), pointer), value: { x: {} }, hex: '0a0408011200' },
  { name: 'schema or yes: no', schema: one(anySchema('schemaOrBool'), pointer), value: { x: false }, hex: '0a020800' },
  { name: 'schema or texts: texts', schema: one(anySchema('schemaOrStrings'), pointer), value: { x: ['a'] }, hex: '0a03120161' },
  {
    name: 'fields in the order of their numbers',
    schema: s.struct('X', { b: s.field(2, s.string), a: s.field(1, s.int32) }),
    value: { a: 1, b: 'x' },
    hex: '0801120178',
  },
  {
    name: 'a field that is only in JSON',
    schema: s.struct('X', { a: s.jsonField(s.string), b: s.field(1, s.string) }),
    value: { a: 'x' },
    hex: '0a00',
    back: {},
  },
  {
    name: 'embedded structs are messages again',
    schema: s.struct('Outer', {
      ...s.embed(2, s.struct('Middle', { ...s.embed(1, inner), z: s.field(3, s.boolean) })),
      a: s.field(1, s.string),
    }),
    value: { name: 'n', port: 5, z: true, a: 'a' },
    hex: '0a016112090a050a016e10051801',
  },
  {
    name: 'embedded structs are written when empty',
    schema: s.struct('Outer', { ...s.embed(2, inner), a: s.field(1, s.string) }),
    value: {},
    hex: '0a0012040a001000',
  },
  {
    name: 'numbers above 15 take a tag of two bytes',
    schema: s.struct('X', { a: s.field(17, s.string) }),
    value: { a: 'x' },
    hex: '8a010178',
  },
]

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, 'hex')
const decode = (schema: s.StructNode, hex: string): unknown => decodeMessage(schema, bytesOf(hex), JSON.parse)

describe('values and their messages', () => {
  for (const { name, schema, value, hex, back } of rows) {
    test(name, () => {
      assert.equal(hexOf(encodeMessage(schema, value)), hex)
      assert.deepEqual(decode(schema, hex), back ?? value)
    })
  }

  test('a message larger than any buffer that was ready', () => {
    const value = { x: Array.from({ length: 5000 }, (_, i) => ({ name: `item ${i} ${'ä'.repeat(i % 50)}`, port: i + 1 })) }
    const schema = one(s.list(inner))
    assert.deepEqual(decodeMessage(schema, encodeMessage(schema, value), JSON.parse), value)
  })

  test('messages that were made stay as they are', () => {
    const schema = one(s.string)
    const made = Array.from({ length: 3000 }, (_, i) => encodeMessage(schema, { x: `text number ${i}` }))
    for (const [i, bytes] of made.entries()) assert.deepEqual(decodeMessage(schema, bytes, JSON.parse), { x: `text number ${i}` })
  })

  test('integers beyond 2^53 inside JSON', () => {
    assert.equal(hexOf(encodeMessage(one(s.any('raw')), { x: 9007199254740993n })), '0a120a1039303037313939323534373430393933')
  })

  test('types that are only JSON', () => {
    assert.throws(() => encodeMessage(s.struct('Table', {}, { noProto: true }), {}), /Table has no Protobuf form/)
  })
})

describe('reading what others write', () => {
  const x = one(s.string)
  test('unknown fields of every wire type are passed over', () => {
    assert.deepEqual(decode(x, '9a0603616263' + '98067f' + '99060102030405060708' + '9d0601020304' + '9b06080112009c06' + '0a0161'), {
      x: 'a',
    })
  })
  test('the last of two counts, also when it is zero', () => {
    assert.deepEqual(decode(x, '0a01610a0162'), { x: 'b' })
    assert.deepEqual(decode(x, '0a01610a00'), {})
  })
  test('two halves of a message are put together', () => {
    assert.deepEqual(decode(one(inner), '0a030a01610a021005'), { x: { name: 'a', port: 5 } })
  })
  test('integers all at once', () => {
    assert.deepEqual(decode(one(s.list(s.int32)), '0a03010203' + '0804'), { x: [1, 2, 3, 4] })
  })
  test('entries of maps without key or value', () => {
    assert.deepEqual(decode(one(s.map(s.string)), '0a00' + '0a030a0161'), { x: { '': '', a: '' } })
  })
  test('a key that means something to the language', () => {
    const read = decode(one(s.map(s.string)), '0a0e0a095f5f70726f746f5f5f120178') as { x: Record<string, string> }
    assert.deepEqual(Object.entries(read.x), [['__proto__', 'x']])
  })
  test('quantities take their one spelling', () => assert.deepEqual(decode(one(s.quantity), '0a050a03312e35'), { x: '1500m' }))
  test('times lose what JSON does not say', () => {
    assert.deepEqual(decode(one(s.time), '0a0808cda1e6bb041005'), { x: '2008-01-01T01:01:01Z' })
  })
})

const broken: readonly { readonly name: string; readonly schema: s.StructNode; readonly hex: string; readonly problem: RegExp }[] = [
  { name: 'a tag cut short', schema: one(s.string), hex: 'ffffff', problem: /^unexpected EOF$/ },
  { name: 'a length beyond the end', schema: one(s.string), hex: '0a0561', problem: /^unexpected EOF$/ },
  { name: 'a length of more than 64 bits', schema: one(s.string), hex: '0affffffffffffffffffff7f', problem: /more than 64 bits/ },
  { name: 'a huge length', schema: one(s.string), hex: '0affffffffffffffff7f', problem: /^unexpected EOF$/ },
  { name: 'an inner message that ends too early', schema: one(inner), hex: '0a020a05', problem: /^unexpected EOF$/ },
  { name: 'a number cut short', schema: one(s.number), hex: '0900', problem: /^unexpected EOF$/ },
  { name: 'a group that never ends', schema: one(s.string), hex: '9b06', problem: /^unexpected EOF$/ },
  { name: 'the end of no group', schema: one(s.string), hex: '9c06', problem: /wire type 4/ },
  { name: 'a wire type that does not exist', schema: one(s.string), hex: '9f06', problem: /wire type 7/ },
  { name: 'field number 0', schema: one(s.string), hex: '0201', problem: /illegal tag 0/ },
  { name: 'a text that is a number', schema: one(s.string), hex: '0801', problem: /wrong wire type 0 for field x/ },
  { name: 'a number that is a text', schema: one(s.int32), hex: '0a0161', problem: /wrong wire type 2 for field x/ },
  { name: 'a bad quantity', schema: one(s.quantity), hex: '0a050a03616263', problem: /quantities must match/ },
  { name: 'a time that no calendar has', schema: one(s.time), hex: '0a0708ffffffffff7f', problem: /out of range/ },
  { name: 'JSON that is none', schema: one(s.any('raw')), hex: '0a030a017b', problem: /JSON inside the message/ },
]

describe('bytes that are no messages', () => {
  for (const { name, schema, hex, problem } of broken) {
    test(name, () => {
      assert.throws(
        () => decode(schema, hex),
        (thrown) => thrown instanceof ProtobufReadError && problem.test(thrown.message),
      )
    })
  }

  test('messages nested without end', () => {
    let bytes = new Uint8Array()
    for (let i = 0; i < 5000; i++) bytes = Buffer.concat([lengthPrefixed(bytes)])
    assert.throws(() => decodeMessage(tree, bytes, JSON.parse), /nested more than/)
  })

  test('any cut of a message is refused or read, and nothing else happens', () => {
    const schema = one(s.map(inner))
    const whole = encodeMessage(schema, { x: { a: { name: 'b', port: 300 }, c: {} } })
    for (let end = 0; end < whole.length; end++) {
      try {
        decodeMessage(schema, whole.subarray(0, end), JSON.parse)
      } catch (thrown) {
        assert.ok(thrown instanceof ProtobufReadError, String(thrown))
      }
    }
  })
})

function lengthPrefixed(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const length: number[] = []
  for (let rest = bytes.length; length.length === 0 || rest > 0; rest >>= 7) length.push((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
  return Uint8Array.of(0x12, ...length, ...bytes)
}
