// Members beyond the fields of a struct (`rest`), as custom resources keep them: every reading of a schema, and every patch, honours them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Infer } from '../schema/infer.js'
import { any, field, int32, jsonField, list, map, string, struct } from '../schema/node.js'
import { withoutNullFields } from '../schema/null-fields.js'
import { printPath } from '../schema/path.js'
import { encodeMessage, hasProtobuf } from '../schema/protobuf.js'
import { readValue, SchemaReadError } from '../schema/read.js'
import { structTopology } from '../schema/topology.js'
import { writeStored, writeStoredFields, writeValue } from '../schema/write.js'
import { compare } from './compare.js'
import { setOf } from './set-of.js'
import { stageOf } from './stage.fixture.js'
import { strategicMergePatch } from './strategic-merge-patch.js'

const item = struct('Item', { name: jsonField(string) })
const inner = struct('Inner', { n: jsonField(int32) }, { rest: { ...any('json'), granular: true } })
const metadata = struct('ObjectMeta', { name: jsonField(string), labels: jsonField(map(string)), managedFields: jsonField(any('json')) })
const open = struct(
  'Open',
  { metadata: jsonField(metadata), m: jsonField(string), spec: jsonField(inner) },
  { rest: { ...any('json'), granular: true }, typeMeta: true },
)
/** What lies beyond has a type here. */
const typed = struct(
  'Typed',
  { a: jsonField(int32) },
  { rest: list(item, { listType: 'map', keys: ['name'], patchStrategy: 'merge', patchMergeKey: 'name' }) },
)
const closed = struct('Closed', { a: field(1, string) })

const value = { m: 'x', spec: { n: 1, z: [{ deep: null }], a: 'b' }, zeta: { b: 1, a: null }, alpha: 0 }

const rows: readonly { readonly reading: string; readonly check: () => void }[] = [
  {
    reading: 'read keeps them, nulls and zeros too, and reports none',
    check: () => {
      const read = readValue(open, value)
      assert.deepEqual(read.value, value)
      assert.deepEqual(read.report.unknown, [])
    },
  },
  {
    reading: 'read gives them the type that they have',
    check: () => {
      const { value: read, report } = readValue(typed, { a: 0, one: [{ name: 'x', odd: 1 }], none: null })
      assert.deepEqual(read, { one: [{ name: 'x' }], none: null })
      assert.deepEqual(report.unknown.map(printPath), ['one[0].odd'])
      assert.throws(() => readValue(typed, { one: 'text' }), SchemaReadError)
    },
  },
  {
    reading: 'read keeps a member of any name',
    check: () => {
      const read = readValue(open, JSON.parse('{"__proto__":{"x":1}}')).value as object
      assert.deepEqual(Object.keys(read), ['__proto__'])
    },
  },
  {
    reading: 'write puts them among the fields, in the order of their names, behind metadata',
    check: () => {
      const text = '{"metadata":{},"alpha":0,"m":"x","spec":{"a":"b","n":1,"z":[{"deep":null}]},"zeta":{"b":1,"a":null}}'
      assert.equal(writeValue(open, value), text)
      assert.equal(writeStored(open, value), text)
      assert.equal(writeStoredFields(open, { ...value, kind: 'Open', apiVersion: 'v1' }), text.slice(1, -1))
      assert.equal(
        writeValue(open, { kind: 'Open', apiVersion: 'v1', b: null }),
        '{"kind":"Open","apiVersion":"v1","metadata":{},"b":null,"spec":{}}',
      )
    },
  },
  {
    reading: 'null fields cannot be told from their nulls',
    check: () => assert.equal(withoutNullFields(open, '{"zeta":null}'), undefined),
  },
  {
    reading: 'the topology has them',
    check: () => {
      assert.equal(structTopology(open).rest?.kind, 'any')
      assert.equal(structTopology(typed).rest?.kind, 'list')
      assert.equal(structTopology(closed).rest, undefined)
    },
  },
  {
    reading: 'Protobuf has no place for them, wherever they are',
    check: () => {
      assert.equal(hasProtobuf(open), false)
      assert.equal(hasProtobuf(struct('Outer', { inner: field(1, list(inner)) })), false)
      assert.equal(hasProtobuf(closed), true)
      assert.throws(() => encodeMessage(inner, { n: 1, a: 'b' }), /has no place for/)
    },
  },
  {
    reading: 'field sets have them',
    check: () =>
      assert.deepEqual(setOf(structTopology(open), { spec: { n: 1, a: { b: 1 } }, zeta: { b: 1 } }), {
        'f:spec': { 'f:a': { '.': {}, 'f:b': {} }, 'f:n': {} },
        'f:zeta': { '.': {}, 'f:b': {} },
      }),
  },
  {
    reading: 'comparison sees them',
    check: () => {
      const { changed, removed } = compare(structTopology(open), { zeta: { b: 1 }, gone: 1 }, { zeta: { b: 2 } })
      assert.deepEqual(changed, { 'f:zeta': { 'f:b': {} } })
      assert.deepEqual(removed, { 'f:gone': {} })
    },
  },
  {
    reading: 'apply merges, owns and removes them',
    check: () => {
      const stage = stageOf(open)
      stage.apply('m1', { zeta: { a: 1, b: 2 }, spec: { n: 1, x: 'y' } })
      stage.apply('m2', { zeta: { c: 3 } })
      assert.deepEqual(stage.object(), { zeta: { a: 1, b: 2, c: 3 }, spec: { n: 1, x: 'y' } })
      stage.apply('m1', { zeta: { a: 1 }, spec: { n: 1 } })
      assert.deepEqual(stage.object(), { zeta: { a: 1, c: 3 }, spec: { n: 1 } })
      assert.match(stage.failure('m2', { zeta: { a: 5, c: 3 } }).message, /conflict with "m1": \.zeta\.a$/)
    },
  },
  {
    reading: 'a strategic merge patch merges them by their type',
    check: () => {
      const merged = strategicMergePatch({ one: [{ name: 'x', v: 1 }] }, { one: [{ name: 'x', v: 2 }, { name: 'y' }] }, typed)
      assert.deepEqual(merged, { one: [{ name: 'x', v: 2 }, { name: 'y' }] })
      const kept = strategicMergePatch({ one: [{ name: 'x' }] }, { one: [{ name: 'y' }] }, typed) as { one: object[] }
      assert.equal(kept.one.length, 2)
    },
  },
  {
    reading: 'the type of a value has them',
    check: () => {
      const object: Infer<typeof inner> = { n: 1, anything: [1] }
      assert.deepEqual(object['anything'], [1])
    },
  },
]

for (const { reading, check } of rows) test(`members beyond the fields: ${reading}`, check)
