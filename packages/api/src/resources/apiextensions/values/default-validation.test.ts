// Tests of default validation, pruning and embedded resources.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import { expectErrors, rowTitle } from '../../expect-errors.fixture.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { matchesPattern } from '../schema/json-schema.js'
import { pruneValue, validateDefaults } from './default-validation.js'

const text: JsonSchema = { type: 'string' }
const resource: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }

const rows: readonly (readonly [schema: JsonSchema, ...problems: readonly string[]])[] = [
  [{ ...text, default: 'x' }],
  [{ ...text, default: 3 }, '.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  [
    { type: 'array', items: { ...text, default: 1 } },
    '.items.default: Invalid value: "integer":  in body must be of type string: "integer"',
  ],
  [
    { type: 'array', items: text, default: ['a', 1] },
    '.default.[1]: Invalid value: "integer": [1] in body must be of type string: "integer"',
  ],
  [
    { type: 'object', additionalProperties: text, default: { a: 1 } },
    '.default.a: Invalid value: "integer": .a in body must be of type string: "integer"',
  ],
  [
    { type: 'object', properties: { b: text }, default: { b: 'x', c: 'y' } },
    '.default: Invalid value: {"b":"x","c":"y"}: must not have unknown fields',
  ],
  [{ ...resource, default: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } }, spec: {} } }],
  [
    { ...resource, default: { apiVersion: 'a/b/c' } },
    '.default.apiVersion: Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    '.default.kind: Required value: must not be empty',
  ],
  // A resource that cannot be decoded has no other error.
  [{ ...resource, default: { apiVersion: 1 } }, '.default.apiVersion: Invalid value: 1: must be a string'],
  [
    { ...resource, default: { apiVersion: '', kind: 'A_b', metadata: { labels: 'x' } } },
    '.default.metadata: Invalid value: {"labels":"x"}: labels: cannot read string as map',
  ],
  [
    { ...resource, properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a/b' } } } } },
    '.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
  ],
]

for (const [schema, ...problems] of rows) {
  test(`a default: ${rowTitle(schema, problems)}`, () => {
    const expected = problems.map((line) => `s.properties[p]${line}`)
    expectErrors(validateDefaults(frozen({ type: 'object', properties: { p: schema } }), 's'), expected)
  })
}

const open: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const prunings: readonly (readonly [title: string, schema: JsonSchema, value: unknown, kept: unknown])[] = [
  ['properties of the schema', { properties: { a: text } }, { a: 'x', b: 1 }, { a: 'x' }],
  ['properties of list items', { items: { properties: { a: text } } }, [{ a: 1 }, { b: 2 }], [{ a: 1 }, {}]],
  ['additionalProperties with a schema', { additionalProperties: { properties: { a: text } } }, { x: { a: 1, b: 2 } }, { x: { a: 1 } }],
  ['additionalProperties=true, without their content', { additionalProperties: true }, { x: { a: 1 } }, { x: {} }],
  ['unknown fields of items of a list that keeps them', { ...open, items: { properties: { a: text } } }, [{ b: 1 }], [{ b: 1 }]],
  ['preserved unknown fields', { ...open, properties: { a: { properties: {} } } }, { a: { b: 1 }, c: { d: 1 } }, { a: {}, c: { d: 1 } }],
  [
    'kind and metadata of embedded resources',
    { 'x-kubernetes-embedded-resource': true },
    { kind: 'A', metadata: { name: 'n' }, spec: {} },
    { kind: 'A', metadata: { name: 'n' } },
  ],
]

for (const [title, schema, value, kept] of prunings) {
  test(`pruning keeps ${title}`, () => assert.deepEqual(pruneValue(frozen(value), frozen(schema)), kept))
}

test('pruning returns the same value if nothing is dropped', () => {
  const value = frozen({ a: [{ b: 1 }] })
  assert.equal(pruneValue(value, { properties: { a: { items: { properties: { b: { type: 'integer' } } } } } }), value)
})

test('a pattern with exponential backtracking takes linear time; an invalid one matches nothing', () => {
  assert.equal(matchesPattern('^(a+)+$', `${'a'.repeat(100_000)}b`), false)
  assert.equal(matchesPattern('(', '('), false)
})

test('defaults are validated by CEL rules', () => {
  const schema: JsonSchema = { type: 'integer', default: 5, 'x-kubernetes-validations': [{ rule: 'self > 10' }] }
  assert.deepEqual(lines(validateDefaults(schema, '')), ['.default: Invalid value: "integer": failed rule: self > 10'])
})
