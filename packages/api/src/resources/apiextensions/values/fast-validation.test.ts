// Tests of fast validation: it accepts no value that validateValue rejects, and accepts ordinary values.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validateLists } from '../custom-resource/custom-kind.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { validateEmbedded } from './embedded-resource.js'
import { passesFastValidation } from './fast-validation.js'
import { validateValue } from './validate-value.js'

const errorsOf = (schema: JsonSchema, value: unknown): number =>
  [...validateValue(schema, value, ''), ...validateEmbedded(value, schema, ''), ...validateLists(value, schema, '')].length

/** Seeded pseudorandom numbers. */
function randomOf(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const keywords: { readonly [type: string]: readonly Partial<JsonSchema>[] } = {
  string: [{ maxLength: 3 }, { minLength: 2 }, { pattern: '^a+$' }, { format: 'date' }, { format: 'odd' }, { enum: ['a', 'b'] }, {}],
  integer: [
    { minimum: 1 },
    { maximum: 2 },
    { minimum: 1, exclusiveMinimum: true },
    { format: 'int32' },
    { multipleOf: 2 },
    { enum: [1] },
    {},
  ],
  number: [{ minimum: 0.5 }, { format: 'float' }, {}],
  boolean: [{}, { enum: [true] }],
}
const values = [null, true, false, 0, 1, 2, 1.5, 5_000_000_000, 12n, '', 'a', 'b', 'aa', 'aaaa', '2020-01-01', '😀', [], {}]

function randomSchema(random: (below: number) => number, depth: number): JsonSchema {
  const nullable = random(5) === 0 ? { nullable: true } : {}
  const kind = random(depth === 0 ? 4 : 9)
  const inner = (): JsonSchema => randomSchema(random, depth - 1)
  if (kind === 4) {
    const type = ['atomic', 'set', 'map', undefined][random(4)]
    const lists =
      type === undefined ? {} : { 'x-kubernetes-list-type': type, ...(type === 'map' ? { 'x-kubernetes-list-map-keys': ['a'] } : {}) }
    return { type: 'array', items: inner(), ...lists, ...[{ maxItems: 1 }, { minItems: 1 }, {}, {}][random(4)], ...nullable }
  }
  if (kind === 5 || kind === 6) {
    const more = [{ required: ['a'] }, { maxProperties: 1 }, { minProperties: 1 }, { additionalProperties: false }, {}, {}][random(6)]
    return { type: 'object', properties: { a: inner(), b: inner() }, ...more, ...nullable }
  }
  if (kind === 7) return { type: 'object', additionalProperties: inner(), ...nullable }
  if (kind === 8)
    return [
      { 'x-kubernetes-preserve-unknown-fields': true },
      { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
      { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
      { oneOf: [inner(), inner()] },
    ][random(4)] as JsonSchema
  const type = ['string', 'integer', 'number', 'boolean'][kind] as string
  const choices = keywords[type] ?? []
  return { type, ...choices[random(choices.length)], ...nullable }
}

function randomValue(random: (below: number) => number, depth: number): unknown {
  const kind = random(depth === 0 ? 3 : 6)
  if (kind < 3) return values[random(values.length)]
  if (kind === 3) return Array.from({ length: random(4) }, () => randomValue(random, depth - 1))
  const names = ['a', 'b', 'c'].filter(() => random(2) === 0)
  return Object.fromEntries(names.map((name) => [name, randomValue(random, depth - 1)]))
}

test('an accepted value has no error, for random schemas', () => {
  const random = randomOf(7)
  let passed = 0
  for (let i = 0; i < 3000; i++) {
    const schema = randomSchema(random, 3)
    for (let k = 0; k < 12; k++) {
      const value = randomValue(random, 3)
      if (!passesFastValidation(schema, value)) continue
      passed++
      assert.equal(errorsOf(schema, value), 0, JSON.stringify({ schema, value: String(value) }))
    }
  }
  assert.ok(passed > 3000, `${passed} passed`)
})

test('ordinary values are accepted', () => {
  const schema: JsonSchema = {
    type: 'object',
    required: ['spec'],
    properties: {
      metadata: { type: 'object' },
      spec: {
        type: 'object',
        properties: {
          replicas: { type: 'integer', format: 'int32', minimum: 0 },
          port: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          mode: { type: 'string', enum: ['a', 'b'] },
          labels: { type: 'object', additionalProperties: { type: 'string' } },
          conditions: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['type'],
            items: { type: 'object', properties: { type: { type: 'string', maxLength: 316, pattern: '^[A-Z]' } } },
          },
        },
      },
    },
  }
  const spec = { replicas: 1, port: 'http', mode: 'a', labels: { a: 'b' }, conditions: [{ type: 'Ready' }, { type: 'Up' }] }
  assert.ok(passesFastValidation(schema, { metadata: { name: 'x' }, spec }))
  assert.ok(!passesFastValidation(schema, { spec: { ...spec, conditions: [{ type: 'Ready' }, { type: 'Ready' }] } }))
  assert.ok(!passesFastValidation(schema, { metadata: {} }))
})
