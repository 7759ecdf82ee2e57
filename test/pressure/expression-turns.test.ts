// Expressions of which the cost says little about the time: none holds the event loop, whatever the values are that a client sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression } from '../../src/cel/compile.js'
import { valueOfData } from '../../src/cel/data.js'
import { environmentOf, typeOfSchema, type ValueSchema } from '../../src/cel/schema-type.js'

const listOf = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i))
const integers: ValueSchema = { type: 'array', items: { type: 'integer' } }
const item: ValueSchema = { type: 'object', properties: { x: { type: 'integer' } } }
const setOfMaps: ValueSchema = { type: 'array', items: item, 'x-kubernetes-list-type': 'set' }
const text = (format: string): ValueSchema => ({ type: 'string', format })
const numbers = listOf(100, (i) => i)

interface Case {
  readonly field: ValueSchema
  readonly value: unknown
  readonly old?: unknown
  readonly rule: string
}

/** Each took 35 ms to 23 s in one turn. */
const cases: Readonly<Record<string, Case>> = {
  durations: { field: text('duration'), value: '1h'.repeat(200_000), rule: 'self.l.all(i, self.f == self.f || true)' },
  'date-times': { field: text('date-time'), value: '1'.repeat(400_000), rule: 'self.l.all(i, self.f == self.f || true)' },
  bytes: { field: text('byte'), value: Buffer.alloc(300_000).toString('base64url'), rule: 'self.l.all(i, size(self.f) > i)' },
  'sets of maps': {
    field: setOfMaps,
    value: listOf(490, (x) => ({ x })),
    old: listOf(490, (i) => ({ x: 489 - i })),
    rule: 'self.l.all(i, self.f == oldSelf.f)',
  },
  'sums of sets': {
    field: setOfMaps,
    value: listOf(490, (x) => ({ x })),
    old: listOf(490, (i) => ({ x: 490 + i })),
    rule: 'size(self.f + oldSelf.f) == 980',
  },
  'large values': {
    field: { type: 'object', properties: { m: { type: 'object', additionalProperties: { type: 'integer' } } } },
    value: { m: Object.fromEntries(listOf(900, (i) => [`k${i}`, i])) },
    rule: listOf(1000, () => 'self.f == oldSelf.f').join(' && '),
  },
  zones: {
    field: text('date-time'),
    value: '2020-01-01T00:00:00Z',
    rule: "self.l.all(i, self.l.all(j, self.f.getHours('X' + string(i)) > 0 || true))",
  },
  urls: { field: { type: 'string' }, value: `http://x/?${'a=b&'.repeat(250)}`, rule: 'self.l.all(i, url(self.f).getQuery().size() > 0)' },
}

/** Evaluates as the server does, in time slices. */
function evaluate({ field, value, old = value, rule }: Case): unknown {
  const schema: ValueSchema = { type: 'object', properties: { f: field, l: integers } }
  const root = typeOfSchema(schema, false, 'selfType')
  assert.ok(root)
  const program = compileExpression(rule, environmentOf(root, ['self', 'oldSelf']))
  const self = valueOfData({ f: value, l: numbers }, schema)
  const oldSelf = valueOfData({ f: old, l: numbers }, schema)
  const work = program.evaluateInPieces({ self, oldSelf }, 1_000_000)
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value.value
}

for (const [name, kase] of Object.entries(cases)) {
  test(`${name} is evaluated`, () => assert.equal(evaluate(kase), true))
}
