// Defaults that their own schema accepts, pruning, and objects of the API inside of others.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../json-schema.js'
import { matchesPattern, patternProblem } from '../pattern.js'
import { validateDefaults } from './default-rules.js'
import { pruneValue } from './prune-value.js'

const text: JsonSchema = { type: 'string' }
const resource: JsonSchema = { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true }

const rows: readonly { readonly title: string; readonly schema: JsonSchema; readonly found: readonly string[] }[] = [
  { title: 'a text', schema: { ...text, default: 'x' }, found: [] },
  {
    title: 'a number for a text',
    schema: { ...text, default: 3 },
    found: ['.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  },
  {
    title: 'an item',
    schema: { type: 'array', items: { ...text, default: 1 } },
    found: ['.items.default: Invalid value: "integer":  in body must be of type string: "integer"'],
  },
  {
    title: 'an item inside',
    schema: { type: 'array', items: text, default: ['a', 1] },
    found: ['.default.[1]: Invalid value: "integer": [1] in body must be of type string: "integer"'],
  },
  {
    title: 'an unknown member',
    schema: { type: 'object', properties: { b: text }, default: { b: 'x', c: 'y' } },
    found: ['.default: Invalid value: {"b":"x","c":"y"}: must not have unknown fields'],
  },
  {
    title: 'an object of the API',
    schema: { ...resource, default: { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { a: 'b' } }, spec: {} } },
    found: [],
  },
  {
    title: 'an object of no kind',
    schema: { ...resource, default: { apiVersion: 1 } },
    found: ['.default.apiVersion: Invalid value: 1: must be a string', '.default.kind: Required value: must not be empty'],
  },
  {
    title: 'an object with broken metadata',
    schema: { ...resource, default: { apiVersion: 'v1', kind: 'A_b', metadata: { labels: 'x' } } },
    found: [
      '.default.kind: Invalid value: "A_b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of',
      '.default.metadata: Invalid value: {"labels":"x"}: labels: cannot read string as map',
    ],
  },
  {
    title: 'a name of an object of the API',
    schema: { ...resource, properties: { metadata: { type: 'object', properties: { name: { ...text, default: 'a/b' } } } } },
    found: [
      '.properties[metadata].properties[name].default: Invalid value: "a/b": must result in valid metadata: metadata.name: Invalid value: "a/b": may not contain \'/\'',
    ],
  },
]

for (const { title, schema, found } of rows) {
  test(`a default that is ${title}`, () => {
    const errors = lines(validateDefaults(frozen({ type: 'object', properties: { p: schema } }), 's'))
    const expected = found.map((line) => `s.properties[p]${line}`)
    assert.deepEqual(
      errors.map((line, i) => line.slice(0, expected[i]?.length)),
      expected,
    )
  })
}

const open: JsonSchema = { 'x-kubernetes-preserve-unknown-fields': true }
const prunings: readonly { readonly title: string; readonly schema: JsonSchema; readonly value: unknown; readonly kept: unknown }[] = [
  { title: 'known members', schema: { properties: { a: text } }, value: { a: 'x', b: 1 }, kept: { a: 'x' } },
  { title: 'members of items', schema: { items: { properties: { a: text } } }, value: [{ a: 1 }, { b: 2 }], kept: [{ a: 1 }, {}] },
  {
    title: 'members of any name',
    schema: { additionalProperties: { properties: { a: text } } },
    value: { x: { a: 1, b: 2 } },
    kept: { x: { a: 1 } },
  },
  { title: 'nothing inside of any members', schema: { additionalProperties: true }, value: { x: { a: 1 } }, kept: { x: {} } },
  {
    title: 'unknown members',
    schema: { ...open, properties: { a: { properties: {} } } },
    value: { a: { b: 1 }, c: { d: 1 } },
    kept: { a: {}, c: { d: 1 } },
  },
  {
    title: 'what every object of the API has',
    schema: { 'x-kubernetes-embedded-resource': true },
    value: { kind: 'A', metadata: { name: 'n' }, spec: {} },
    kept: { kind: 'A', metadata: { name: 'n' } },
  },
]

for (const { title, schema, value, kept } of prunings) {
  test(`pruning keeps ${title}`, () => assert.deepEqual(pruneValue(frozen(value), frozen(schema)), kept))
}

test('what loses nothing stays the same value', () => {
  const value = frozen({ a: [{ b: 1 }] })
  assert.equal(pruneValue(value, { properties: { a: { items: { properties: { b: { type: 'integer' } } } } } }), value)
})

const patterns: readonly { readonly pattern: string; readonly yes?: string; readonly no?: string }[] = [
  { pattern: '(?i)^abc$', yes: 'ABC', no: 'abcd' },
  { pattern: '\\Aa\\z', yes: 'a', no: 'ab' },
  { pattern: '^[[:alpha:]_]+$', yes: 'a_B', no: '1' },
  { pattern: '(?P<year>\\d{4})', yes: '2024', no: 'x' },
  { pattern: '^\\pL+$', yes: 'é', no: '1' },
  { pattern: '(?=a)' },
  { pattern: '(a)\\1' },
  { pattern: '[' },
]

for (const { pattern, yes, no } of patterns) {
  test(`the pattern ${pattern}`, () => {
    if (yes === undefined || no === undefined) assert.notEqual(patternProblem(pattern), undefined)
    else assert.deepEqual([matchesPattern(pattern, yes), matchesPattern(pattern, no)], [true, false])
  })
}

test('a pattern that explodes elsewhere takes linear time, and one that is none matches nothing', () => {
  assert.equal(matchesPattern('^(a+)+$', `${'a'.repeat(100_000)}b`), false)
  assert.equal(matchesPattern('(', '('), false)
})

test('rules of a schema have a say in its defaults', () => {
  const schema: JsonSchema = { type: 'integer', default: 5, 'x-kubernetes-validations': [{ rule: 'self > 10' }] }
  assert.deepEqual(lines(validateDefaults(schema, '')), ['.default: Invalid value: "integer": failed rule: self > 10'])
})
