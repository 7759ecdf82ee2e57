// Tests of structs that keep unknown fields (`rest`): reading, writing, Protobuf, field sets, apply and strategic merge patch.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Infer } from '../schema/infer.js'
import { withoutNullFields } from '../schema/json/null-fields.js'
import { readValue, SchemaReadError } from '../schema/json/read.js'
import { writeStored, writeStoredFields, writeValue } from '../schema/json/write.js'
import { any, field, int32, jsonField, list, map, string, struct } from '../schema/node.js'
import { printPath } from '../schema/path.js'
import { encodeMessage, hasProtobuf } from '../schema/protobuf/protobuf.js'
import { structTopology } from '../schema/topology.js'
import { compare } from './field-set/compare.js'
import { toFieldSet } from './field-set/to-field-set.js'
import { strategicMergePatch } from './strategic-merge-patch/strategic-merge-patch.js'
import { objectHarness } from './testing/object-harness.fixture.js'

const item = struct('Item', { name: jsonField(string) })
const inner = struct('Inner', { n: jsonField(int32) }, { rest: { ...any('json'), granular: true } })
const metadata = struct('ObjectMeta', { name: jsonField(string), labels: jsonField(map(string)), managedFields: jsonField(any('json')) })
const open = struct(
  'Open',
  { metadata: jsonField(metadata), m: jsonField(string), spec: jsonField(inner) },
  { rest: { ...any('json'), granular: true }, typeMeta: true },
)
const typed = struct(
  'Typed',
  { a: jsonField(int32) },
  { rest: list(item, { listType: 'map', keys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name' }) },
)
const closed = struct('Closed', { a: field(1, string) })

const value = { m: 'x', spec: { n: 1, z: [{ deep: null }], a: 'b' }, zeta: { b: 1, a: null }, alpha: 0 }

test('read keeps unknown fields, including nulls and zeros, and reports none', () => {
  const read = readValue(open, value)
  assert.deepEqual(read.value, value)
  assert.deepEqual(read.report.unknown, [])
})

test('read checks unknown fields against the type of `rest`', () => {
  const { value: read, report } = readValue(typed, { a: 0, one: [{ name: 'x', odd: 1 }], none: null })
  assert.deepEqual(read, { one: [{ name: 'x' }], none: null })
  assert.deepEqual(report.unknown.map(printPath), ['one[0].odd'])
  assert.throws(() => readValue(typed, { one: 'text' }), SchemaReadError)
})

test('read keeps an unknown field __proto__', () => {
  const read = readValue(open, JSON.parse('{"__proto__":{"x":1}}')).value as object
  assert.deepEqual(Object.keys(read), ['__proto__'])
})

test('write sorts unknown fields among the others, after metadata', () => {
  const text = '{"metadata":{},"alpha":0,"m":"x","spec":{"a":"b","n":1,"z":[{"deep":null}]},"zeta":{"b":1,"a":null}}'
  assert.equal(writeValue(open, value), text)
  assert.equal(writeStored(open, value), text)
  assert.equal(writeStoredFields(open, { ...value, kind: 'Open', apiVersion: 'v1' }), text.slice(1, -1))
  assert.equal(
    writeValue(open, { kind: 'Open', apiVersion: 'v1', b: null }),
    '{"kind":"Open","apiVersion":"v1","metadata":{},"b":null,"spec":{}}',
  )
})

test('withoutNullFields returns undefined, because unknown fields may be null', () =>
  assert.equal(withoutNullFields(open, '{"zeta":null}'), undefined))

test('the topology contains the type of `rest`', () => {
  assert.equal(structTopology(open).rest?.kind, 'any')
  assert.equal(structTopology(typed).rest?.kind, 'list')
  assert.equal(structTopology(closed).rest, undefined)
})

test('Protobuf cannot encode unknown fields at any depth', () => {
  assert.equal(hasProtobuf(open), false)
  assert.equal(hasProtobuf(struct('Outer', { inner: field(1, list(inner)) })), false)
  assert.equal(hasProtobuf(closed), true)
  assert.throws(() => encodeMessage(inner, { n: 1, a: 'b' }), /Protobuf cannot encode/)
})

test('field sets contain unknown fields', () =>
  assert.deepEqual(toFieldSet(structTopology(open), { spec: { n: 1, a: { b: 1 } }, zeta: { b: 1 } }), {
    'f:spec': { 'f:a': { '.': {}, 'f:b': {} }, 'f:n': {} },
    'f:zeta': { '.': {}, 'f:b': {} },
  }))

test('compare reports changed and removed unknown fields', () => {
  const { changed, removed } = compare(structTopology(open), { zeta: { b: 1 }, gone: 1 }, { zeta: { b: 2 } })
  assert.deepEqual(changed, { 'f:zeta': { 'f:b': {} } })
  assert.deepEqual(removed, { 'f:gone': {} })
})

test('apply merges, owns and removes unknown fields', () => {
  const harness = objectHarness(open)
  harness.apply('m1', { zeta: { a: 1, b: 2 }, spec: { n: 1, x: 'y' } })
  harness.apply('m2', { zeta: { c: 3 } })
  assert.deepEqual(harness.object(), { zeta: { a: 1, b: 2, c: 3 }, spec: { n: 1, x: 'y' } })
  harness.apply('m1', { zeta: { a: 1 }, spec: { n: 1 } })
  assert.deepEqual(harness.object(), { zeta: { a: 1, c: 3 }, spec: { n: 1 } })
  assert.match(harness.failure('m2', { zeta: { a: 5, c: 3 } }).message, /conflict with "m1": \.zeta\.a$/)
})

test('strategic merge patch merges unknown fields by the type of `rest`', () => {
  const merged = strategicMergePatch({ one: [{ name: 'x', v: 1 }] }, { one: [{ name: 'x', v: 2 }, { name: 'y' }] }, typed)
  assert.deepEqual(merged, { one: [{ name: 'x', v: 2 }, { name: 'y' }] })
  const kept = strategicMergePatch({ one: [{ name: 'x' }] }, { one: [{ name: 'y' }] }, typed) as { one: object[] }
  assert.equal(kept.one.length, 2)
})

test('the inferred type has unknown fields', () => {
  const object: Infer<typeof inner> = { n: 1, anything: [1] }
  assert.deepEqual(object['anything'], [1])
})
