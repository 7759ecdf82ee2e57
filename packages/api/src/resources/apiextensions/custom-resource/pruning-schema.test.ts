// Tests of pruning by the schema of a CRD: nulls, additionalProperties, large integers and paths of unknown fields.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectMeta } from '../../../api/meta.schema.js'
import { frozen } from '../../../api/rule-context.fixture.js'
import { inPruningOrder } from '../../../schema/json/pruning.js'
import { readValue } from '../../../schema/json/read.js'
import { printPath } from '../../../schema/path.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { structOfKind } from './pruning-schema.js'

const open = { 'x-kubernetes-preserve-unknown-fields': true } as const
const resource: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, ...open }
const metadata = { name: 'a', bogus: 1 }

const rows: readonly (readonly [title: string, schema: JsonSchema, sent: unknown, kept: unknown, ...unknown: readonly string[]])[] = [
  ['keeps null of a nullable field without a type', { ...open, nullable: true }, null, null],
  ['drops null of a field without a type that is not nullable', open, null, undefined],
  [
    'keeps null in a map of nullable values without a type',
    { type: 'object', additionalProperties: { ...open, nullable: true } },
    { a: null },
    { a: null },
  ],
  ['drops null in a map of values that are not nullable', { type: 'object', additionalProperties: open }, { a: null }, {}],
  ['keeps null under additionalProperties: true', { type: 'object', additionalProperties: true }, { a: null }, { a: null }],
  [
    'prunes members under additionalProperties: true',
    { type: 'object', additionalProperties: true },
    { u: { v: 1 }, w: [{ x: 1 }, 2], s: 't' },
    { u: {}, w: [{}, 2], s: 't' },
    'x.u.v',
    'x.w[0].x',
  ],
  [
    'prunes properties next to additionalProperties: true by their own schema',
    { type: 'object', additionalProperties: true, properties: { a: { type: 'object', properties: { b: { type: 'string' } } } } },
    { a: { b: '1', c: 2 }, z: { y: 1 } },
    { a: { b: '1' }, z: {} },
    'x.a.c',
    'x.z.y',
  ],
  ['keeps members that additionalProperties: false forbids', { type: 'object', additionalProperties: false }, { a: 1 }, { a: 1 }],
  [
    'keeps unknown fields of items of a list that keeps them',
    { type: 'array', ...open, items: { type: 'object', properties: { a: { type: 'object', properties: {} } } } },
    [{ a: { b: 1 }, c: 2 }],
    [{ a: {}, c: 2 }],
    'x[0].a.b',
  ],
  [
    'prunes properties of a field without a type',
    { ...open, properties: { a: { type: 'object', properties: {} } } },
    { a: { b: 1 }, c: { d: 1 } },
    { a: {}, c: { d: 1 } },
    'x.a.b',
  ],
  ['keeps a list in a field without a type', { ...open, properties: { a: { type: 'string' } } }, [{ b: 1 }], [{ b: 1 }]],
  ['rounds integers beyond int64', { type: 'number' }, 9223372036854775808n, 2 ** 63],
  ['keeps integers of int64', { type: 'number' }, -9223372036854775808n, -9223372036854775808n],
  ['rounds integers in unknown fields', open, { a: [9223372036854775808n, 9223372036854775807n] }, { a: [2 ** 63, 9223372036854775807n] }],
  [
    'prints keys of maps in brackets in paths of embedded metadata',
    { type: 'object', additionalProperties: { type: 'array', items: { type: 'object', additionalProperties: resource } } },
    { b: [{ c: { metadata } }] },
    { b: [{ c: { metadata: { name: 'a' } } }] },
    'x[b][0][c].metadata.bogus',
  ],
  [
    'prints other keys of maps like fields',
    { type: 'object', additionalProperties: { type: 'object', properties: {} } },
    { b: { c: 1 } },
    { b: {} },
    'x.b.c',
  ],
]

for (const [title, schema, sent, kept, ...unknown] of rows) {
  test(title, () => {
    const struct = structOfKind('Box', frozen({ type: 'object', properties: { x: schema } }))
    const { value, report } = readValue(struct, frozen({ x: sent }))
    assert.deepEqual(value, kept === undefined ? {} : { x: kept })
    assert.deepEqual(inPruningOrder(struct, objectMeta, report.unknown).map(printPath), unknown)
  })
}
