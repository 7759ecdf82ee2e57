// Protobuf encoding by schema, byte by byte, and errors on invalid messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ProtobufReadError } from '../../base/protobuf/protobuf-reader.js'
import * as s from '../node.js'
import { decodeMessage, encodeMessage } from './protobuf.js'

const inner = s.struct('Inner', { name: s.field(1, s.string, { always: true }), port: s.field(2, s.int32) })
const lazySelf = s.lazy(() => tree)
const tree: s.StructNode = s.struct('Tree', {
  value: s.field(1, s.int32, { pointer: true }),
  children: s.field(2, s.list(lazySelf)),
  named: s.field(3, s.map(lazySelf)),
})
const anySchema = (form: s.AnyNode['form']) => s.any(form, lazySelf)

const structWith = (node: s.SchemaNode, options: { readonly pointer?: boolean } = {}) => s.struct('One', { x: s.field(1, node, options) })
const pointer = { pointer: true }

/** `back`: the decoded value, if it differs from the encoded one. */
type Row = readonly [name: string, schema: s.StructNode, value: unknown, hex: string, back?: unknown]

const rows: readonly Row[] = [
  ['an absent string is written', structWith(s.string), {}, '0a00'],
  ['an absent pointer is not written', structWith(s.string, pointer), {}, ''],
  ['pointer to an empty string', structWith(s.string, pointer), { x: '' }, '0a00'],
  ['short ASCII string', structWith(s.string), { x: 'ab' }, '0a026162'],
  ['short non-ASCII string', structWith(s.string), { x: 'aä€😀' }, '0a0a61c3a4e282acf09f9880'],
  ['a lone surrogate becomes U+FFFD', structWith(s.string), { x: 'a\ud800' }, '0a0461efbfbd', { x: 'a\ufffd' }],
  ['long ASCII string', structWith(s.string), { x: 'a'.repeat(200) }, `0ac801${'61'.repeat(200)}`],
  ['long non-ASCII string', structWith(s.string), { x: `${'a'.repeat(50)}ä` }, `0a34${'61'.repeat(50)}c3a4`],
  ['an absent boolean is written', structWith(s.boolean), {}, '0800'],
  ['true', structWith(s.boolean), { x: true }, '0801'],
  ['pointer to false', structWith(s.boolean, pointer), { x: false }, '0800'],
  ['small integer', structWith(s.int32), { x: 300 }, '08ac02'],
  ['maximum int32', structWith(s.int32), { x: 2147483647 }, '08ffffffff07'],
  ['negative int32 takes ten bytes', structWith(s.int32), { x: -1 }, '08ffffffffffffffffff01'],
  ['integer beyond 32 bits', structWith(s.int64), { x: 2 ** 40 }, '08808080808020'],
  ['negative int64', structWith(s.int64), { x: -5 }, '08fbffffffffffffffff01'],
  ['maximum int64', structWith(s.int64), { x: 9223372036854775807n }, '08ffffffffffffffff7f'],
  ['double', structWith(s.number), { x: 1.5 }, '09000000000000f83f'],
  ['absent bytes are not written', structWith(s.bytes), {}, ''],
  ['bytes', structWith(s.bytes), { x: 'AAEC/w==' }, '0a04000102ff'],
  ['an absent time is an empty message', structWith(s.time), {}, '0a00'],
  ['the zero time of Go is an empty message', structWith(s.time), { x: '0001-01-01T00:00:00Z' }, '0a00', {}],
  ['time', structWith(s.time), { x: '2008-01-01T01:01:01Z' }, '0a0808cda1e6bb041000'],
  ['the Unix epoch has explicit zeros', structWith(s.time), { x: '1970-01-01T00:00:00Z' }, '0a0408001000'],
  ['time before 1970', structWith(s.time), { x: '1969-12-31T23:59:59Z' }, '0a0d08ffffffffffffffffff011000'],
  ['time in the year 99', structWith(s.time), { x: '0099-01-01T00:00:00Z' }, '0a0d0880c88d86a4feffffff011000'],
  ['MicroTime', structWith(s.microTime), { x: '2008-01-01T01:01:01.000005Z' }, '0a0908cda1e6bb04108827'],
  ['duration', structWith(s.duration), { x: '1m30s' }, '0a07088088aca3cf02'],
  ['an absent quantity is 0', structWith(s.quantity), {}, '0a030a0130', { x: '0' }],
  ['quantity', structWith(s.quantity), { x: '1500m' }, '0a070a05313530306d'],
  ['IntOrString: integer', structWith(s.intOrString), { x: 80 }, '0a06080010501a00'],
  ['IntOrString: string', structWith(s.intOrString), { x: 'web' }, '0a09080110001a03776562'],
  ['IntOrString: zero is kept', structWith(s.intOrString), { x: 0 }, '0a06080010001a00'],
  ['an absent struct is written', structWith(inner), {}, '0a040a001000', { x: {} }],
  ['struct', structWith(inner), { x: { name: 'a', port: 1 } }, '0a050a01611001'],
  ['an empty list is not written', structWith(s.list(s.string)), { x: [] }, '', {}],
  ['list of strings', structWith(s.list(s.string)), { x: ['a', '', 'b'] }, '0a01610a000a0162'],
  ['list of integers is not packed', structWith(s.list(s.int32)), { x: [1, 0, -1] }, '0801080008ffffffffffffffffff01'],
  ['list of structs', structWith(s.list(inner)), { x: [{}, { name: 'a' }] }, '0a040a0010000a050a01611000'],
  ['map entries are sorted by key', structWith(s.map(s.string)), { x: { b: '2', a: '1' } }, '0a060a01611201310a060a0162120132'],
  ['map of bytes', structWith(s.map(s.bytes)), { x: { a: '', b: '/w==' } }, '0a050a016112000a060a01621201ff'],
  ['null bytes in a map have no value', structWith(s.map(s.bytes)), { x: { a: null } }, '0a030a0161', { x: { a: '' } }],
  ['map of quantities', structWith(s.map(s.quantity)), { x: { a: '1' } }, '0a080a016112030a0131'],
  ['map of times', structWith(s.map(s.time)), { x: { a: null } }, '0a050a01611200'],
  [
    'map of wrapped lists',
    structWith(s.map(s.list(s.string, { protoWrapped: true }))),
    { x: { a: ['b', 'c'], d: null } },
    '0a0b0a016112060a01620a01630a050a01641200',
  ],
  ['wrapped list', structWith(s.list(s.string, { protoWrapped: true })), { x: ['a'] }, '0a030a0161'],
  ['an absent wrapped list is not written', structWith(s.list(s.string, { protoWrapped: true })), {}, ''],
  ['RawExtension', structWith(s.any('raw')), { x: { b: 1, a: '<' } }, '0a110a0f7b2262223a312c2261223a223c227d'],
  ['an absent RawExtension is an empty message', structWith(s.any('raw')), {}, '0a00'],
  ['absent pointer to JSON', structWith(s.any('json'), pointer), {}, ''],
  ['null in a list of JSON', structWith(s.list(s.any('json'))), { x: [null, 1] }, '0a000a030a0131'],
  [
    'runtime.Unknown',
    structWith(s.any('unknown'), pointer),
    { x: 1 },
    `0a1d0a040a0012001201311a002210${Buffer.from('application/json').toString('hex')}`,
  ],
  ['recursive schema', tree, { value: 1, children: [{ value: 2, children: [{}] }] }, '0801120408021200'],
  ['JSONSchemaPropsOrArray: schema', structWith(anySchema('schemaOrArray'), pointer), { x: { value: 1 } }, '0a040a020801'],
  ['JSONSchemaPropsOrArray: array', structWith(anySchema('schemaOrArray'), pointer), { x: [{}, { value: 1 }] }, '0a06120012020801'],
  ['JSONSchemaPropsOrBool: schema', structWith(anySchema('schemaOrBool'), pointer), { x: {} }, '0a0408011200'],
  ['JSONSchemaPropsOrBool: false', structWith(anySchema('schemaOrBool'), pointer), { x: false }, '0a020800'],
  ['JSONSchemaPropsOrStringArray: strings', structWith(anySchema('schemaOrStrings'), pointer), { x: ['a'] }, '0a03120161'],
  [
    'fields are in order of their numbers',
    s.struct('X', { b: s.field(2, s.string), a: s.field(1, s.int32) }),
    { a: 1, b: 'x' },
    '0801120178',
  ],
  ['a field without a number is not written', s.struct('X', { a: s.jsonField(s.string), b: s.field(1, s.string) }), { a: 'x' }, '0a00', {}],
  [
    'embedded structs are nested messages',
    s.struct('Outer', {
      ...s.embed(2, s.struct('Middle', { ...s.embed(1, inner), z: s.field(3, s.boolean) })),
      a: s.field(1, s.string),
    }),
    { name: 'n', port: 5, z: true, a: 'a' },
    '0a016112090a050a016e10051801',
  ],
  ['empty embedded structs are written', s.struct('Outer', { ...s.embed(2, inner), a: s.field(1, s.string) }), {}, '0a0012040a001000'],
  ['field numbers above 15 take two bytes', s.struct('X', { a: s.field(17, s.string) }), { a: 'x' }, '8a010178'],
]

const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const bytesOf = (hex: string): Uint8Array => Buffer.from(hex, 'hex')
const decode = (schema: s.StructNode, hex: string): unknown => decodeMessage(schema, bytesOf(hex), JSON.parse)

describe('encoding and decoding', () => {
  for (const [name, schema, value, hex, back] of rows) {
    test(name, () => {
      assert.equal(hexOf(encodeMessage(schema, value)), hex)
      assert.deepEqual(decode(schema, hex), back ?? value)
    })
  }

  test('a message larger than a slab', () => {
    const value = { x: Array.from({ length: 5000 }, (_, i) => ({ name: `item ${i} ${'ä'.repeat(i % 50)}`, port: i + 1 })) }
    const schema = structWith(s.list(inner))
    assert.deepEqual(decodeMessage(schema, encodeMessage(schema, value), JSON.parse), value)
  })

  test('later messages do not overwrite earlier ones', () => {
    const schema = structWith(s.string)
    const encoded = Array.from({ length: 3000 }, (_, i) => encodeMessage(schema, { x: `text number ${i}` }))
    for (const [i, bytes] of encoded.entries()) assert.deepEqual(decodeMessage(schema, bytes, JSON.parse), { x: `text number ${i}` })
  })

  test('JSON with integers beyond 2^53', () => {
    assert.equal(hexOf(encodeMessage(structWith(s.any('raw')), { x: 9007199254740993n })), '0a120a1039303037313939323534373430393933')
  })

  test('encoding a JSON-only type throws', () => {
    assert.throws(() => encodeMessage(s.struct('Table', {}, { noProto: true }), {}), /Table has no Protobuf encoding/)
  })
})

describe('decoding messages of other writers', () => {
  const x = structWith(s.string)
  test('unknown fields of every wire type are skipped', () => {
    assert.deepEqual(decode(x, '9a0603616263' + '98067f' + '99060102030405060708' + '9d0601020304' + '9b06080112009c06' + '0a0161'), {
      x: 'a',
    })
  })
  test('the last of duplicate fields wins, even if it is zero', () => {
    assert.deepEqual(decode(x, '0a01610a0162'), { x: 'b' })
    assert.deepEqual(decode(x, '0a01610a00'), {})
  })
  test('duplicate message fields are merged', () => {
    assert.deepEqual(decode(structWith(inner), '0a030a01610a021005'), { x: { name: 'a', port: 5 } })
  })
  test('packed integers are decoded', () => {
    assert.deepEqual(decode(structWith(s.list(s.int32)), '0a03010203' + '0804'), { x: [1, 2, 3, 4] })
  })
  test('map entries without key or value have empty ones', () => {
    assert.deepEqual(decode(structWith(s.map(s.string)), '0a00' + '0a030a0161'), { x: { '': '', a: '' } })
  })
  test('__proto__ is an ordinary map key', () => {
    const decoded = decode(structWith(s.map(s.string)), '0a0e0a095f5f70726f746f5f5f120178') as { x: Record<string, string> }
    assert.deepEqual(Object.entries(decoded.x), [['__proto__', 'x']])
  })
  test('quantities become canonical', () => assert.deepEqual(decode(structWith(s.quantity), '0a050a03312e35'), { x: '1500m' }))
  test('times lose their nanoseconds', () => {
    assert.deepEqual(decode(structWith(s.time), '0a0808cda1e6bb041005'), { x: '2008-01-01T01:01:01Z' })
  })
})

const invalid: readonly { readonly name: string; readonly schema: s.StructNode; readonly hex: string; readonly problem: RegExp }[] = [
  { name: 'truncated tag', schema: structWith(s.string), hex: 'ffffff', problem: /^unexpected EOF$/ },
  { name: 'length beyond the end', schema: structWith(s.string), hex: '0a0561', problem: /^unexpected EOF$/ },
  { name: 'length of more than 64 bits', schema: structWith(s.string), hex: '0affffffffffffffffffff7f', problem: /more than 64 bits/ },
  { name: 'length beyond 2^53', schema: structWith(s.string), hex: '0affffffffffffffff7f', problem: /^unexpected EOF$/ },
  { name: 'truncated nested message', schema: structWith(inner), hex: '0a020a05', problem: /^unexpected EOF$/ },
  { name: 'truncated double', schema: structWith(s.number), hex: '0900', problem: /^unexpected EOF$/ },
  { name: 'unterminated group', schema: structWith(s.string), hex: '9b06', problem: /^unexpected EOF$/ },
  { name: 'group end without a start', schema: structWith(s.string), hex: '9c06', problem: /wire type 4/ },
  { name: 'invalid wire type', schema: structWith(s.string), hex: '9f06', problem: /wire type 7/ },
  { name: 'field number 0', schema: structWith(s.string), hex: '0201', problem: /illegal tag 0/ },
  { name: 'varint in a string field', schema: structWith(s.string), hex: '0801', problem: /wrong wire type 0 for field x/ },
  { name: 'bytes in an integer field', schema: structWith(s.int32), hex: '0a0161', problem: /wrong wire type 2 for field x/ },
  { name: 'invalid quantity', schema: structWith(s.quantity), hex: '0a050a03616263', problem: /quantities must match/ },
  { name: 'time out of range', schema: structWith(s.time), hex: '0a0708ffffffffff7f', problem: /out of range/ },
  { name: 'invalid JSON', schema: structWith(s.any('raw')), hex: '0a030a017b', problem: /JSON inside the message/ },
]

describe('invalid messages throw ProtobufReadError', () => {
  for (const { name, schema, hex, problem } of invalid) {
    test(name, () => {
      assert.throws(
        () => decode(schema, hex),
        (thrown) => thrown instanceof ProtobufReadError && problem.test(thrown.message),
      )
    })
  }

  test('messages nested too deeply', () => {
    let bytes = new Uint8Array()
    for (let i = 0; i < 5000; i++) bytes = Buffer.concat([lengthPrefixed(bytes)])
    assert.throws(() => decodeMessage(tree, bytes, JSON.parse), /nested more than/)
  })

  test('every prefix of a message is decoded or throws ProtobufReadError', () => {
    const schema = structWith(s.map(inner))
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
