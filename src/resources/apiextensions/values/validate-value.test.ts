// Values against JSON schemas, in the words of the answers that clients know.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../json-schema.js'
import { validateValue } from './validate-value.js'

interface Row {
  readonly title: string
  readonly schema: JsonSchema
  readonly value: unknown
  readonly found?: string
}

const one: JsonSchema = { oneOf: [{ required: ['a'] }, { required: ['b'] }] }
const rows: readonly Row[] = [
  { title: 'a text for a text', schema: { type: 'string' }, value: 'x' },
  {
    title: 'a number for a text',
    schema: { type: 'string' },
    value: 5,
    found: 'x: Invalid value: "integer": x in body must be of type string: "integer"',
  },
  {
    title: 'a fraction for an integer',
    schema: { type: 'integer' },
    value: 1.5,
    found: 'x: Invalid value: "number": x in body must be of type integer: "number"',
  },
  { title: 'a host', schema: { type: 'string', format: 'hostname' }, value: 'a-b.example.com' },
  { title: 'a host of one label', schema: { type: 'string', format: 'hostname' }, value: 'a-b' },
  {
    title: 'a host whose last label is one letter',
    schema: { type: 'string', format: 'hostname' },
    value: 'a.b',
    found: 'x: Invalid value: "a.b": x in body must be of type hostname: "a.b"',
  },
  { title: 'an integer for a number', schema: { type: 'number' }, value: 2 },
  { title: 'a large integer', schema: { type: 'integer', minimum: 0 }, value: 9223372036854775807n },
  {
    title: 'a list for an object',
    schema: { type: 'object' },
    value: [],
    found: 'x: Invalid value: "array": x in body must be of type object: "array"',
  },
  {
    title: 'nothing where there must be something',
    schema: { type: 'object' },
    value: null,
    found: 'x: Invalid value: "null": x in body must be of type object: "null"',
  },
  { title: 'nothing where it is allowed', schema: { type: 'object', nullable: true }, value: null },
  { title: 'a text for a number or a text', schema: { 'x-kubernetes-int-or-string': true }, value: '50%' },
  {
    title: 'true for a number or a text',
    schema: { 'x-kubernetes-int-or-string': true },
    value: true,
    found: 'x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
  },
  {
    title: 'an item of the wrong type',
    schema: { type: 'array', items: { type: 'integer' } },
    value: [1, 'two'],
    found: 'x[1]: Invalid value: "string": x[1] in body must be of type integer: "string"',
  },
  {
    title: 'less than the least',
    schema: { minimum: 3 },
    value: 2,
    found: 'x: Invalid value: 2: x in body should be greater than or equal to 3',
  },
  {
    title: 'the least where it does not count',
    schema: { minimum: 3, exclusiveMinimum: true },
    value: 3,
    found: 'x: Invalid value: 3: x in body should be greater than 3',
  },
  {
    title: 'more than a million',
    schema: { maximum: 1_000_000 },
    value: 1_000_001,
    found: 'x: Invalid value: 1000001: x in body should be less than or equal to 1000000',
  },
  {
    title: 'more than a million, by a fraction',
    schema: { maximum: 1_000_000 },
    value: 1_000_000.5,
    found: 'x: Invalid value: 1.0000005e+06: x in body should be less than or equal to 1e+06',
  },
  {
    title: 'a whole number beyond a bound with a fraction',
    schema: { maximum: 2.5 },
    value: 3,
    found: 'x: Invalid value: 3: x in body should be less than or equal to 2',
  },
  { title: 'a whole number within what is left of a bound', schema: { minimum: 1.5 }, value: 1 },
  {
    title: 'a whole number beside a step with a fraction',
    schema: { multipleOf: 2.5 },
    value: 5,
    found: 'x: Invalid value: 5: x in body should be a multiple of 2',
  },
  {
    title: 'a step of hundredths that is missed by a last digit',
    schema: { multipleOf: 0.01 },
    value: 19.99,
    found: 'x: Invalid value: 19.99: x in body should be a multiple of 0.01',
  },
  {
    title: 'a number for a date',
    schema: { type: 'string', format: 'date' },
    value: 5,
    found: 'x: Invalid value: "int64": x in body must be of type date: "int64"',
  },
  {
    title: 'an object for a date',
    schema: { type: 'string', format: 'date' },
    value: {},
    found: 'x: Invalid value: "": x in body must be of type date: ""',
  },
  { title: 'a list for a date', schema: { type: 'string', format: 'date' }, value: ['a'] },
  { title: 'a step of tenths', schema: { multipleOf: 0.1 }, value: 0.3 },
  {
    title: 'a step missed',
    schema: { multipleOf: 0.5 },
    value: 0.7,
    found: 'x: Invalid value: 0.7: x in body should be a multiple of 0.5',
  },
  {
    title: 'a short text',
    schema: { minLength: 3 },
    value: 'ab',
    found: 'x: Invalid value: "ab": x in body should be at least 3 chars long',
  },
  { title: 'letters counted, not bytes', schema: { maxLength: 5 }, value: 'héllo' },
  { title: 'a long text', schema: { maxLength: 3, pattern: 'x' }, value: 'héllo', found: 'x: Too long: may not be longer than 3' },
  {
    title: 'another shape',
    schema: { pattern: '^[a-z]+$' },
    value: 'A1',
    found: 'x: Invalid value: "A1": x in body should match \'^[a-z]+$\'',
  },
  { title: 'none of the words', schema: { enum: ['a', 1] }, value: 'c', found: 'x: Unsupported value: "c": supported values: "a", "1"' },
  { title: 'too few items', schema: { minItems: 2 }, value: ['a'], found: 'x: Invalid value: 1: x in body should have at least 2 items' },
  { title: 'too many items', schema: { maxItems: 1 }, value: ['a', 'b'], found: 'x: Too many: 2: must have at most 1 items' },
  {
    title: 'too few members',
    schema: { minProperties: 1 },
    value: {},
    found: 'x: Invalid value: 0: x in body should have at least 1 properties',
  },
  { title: 'too many members', schema: { maxProperties: 1 }, value: { a: 1, b: 2 }, found: 'x: Too many: 2: must have at most 1 items' },
  { title: 'a member that is missing', schema: { required: ['a'] }, value: {}, found: 'x.a: Required value' },
  {
    title: 'any member of the wrong type',
    schema: { additionalProperties: { type: 'string' } },
    value: { a: 1 },
    found: 'x.a: Invalid value: "integer": x.a in body must be of type string: "integer"',
  },
  { title: 'one of two', schema: one, value: { a: 1 } },
  {
    title: 'both of two',
    schema: one,
    value: { a: 1, b: 2 },
    found: ': Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  },
  {
    title: 'what is not allowed',
    schema: { not: { required: ['a'] } },
    value: { a: 1 },
    found: ': Invalid value: "": "x" must not validate the schema (not)',
  },
]

for (const { title, schema, value, found } of rows) {
  test(title, () => {
    const errors = lines(validateValue(frozen({ type: 'object', properties: { x: schema } }), { x: value }, ''))
    assert.deepEqual(errors, found === undefined ? [] : [found])
  })
}

test('of choices that all fail, the one that got furthest is told', () => {
  const schema: JsonSchema = { anyOf: [{ minimum: 10 }, { type: 'integer', maximum: -1 }] }
  assert.deepEqual(lines(validateValue(schema, 0, 'd')), [
    'd: Invalid value: "": "" must validate at least one schema (anyOf)',
    'd: Invalid value: 0:  in body should be less than or equal to -1',
  ])
})

const formats: readonly { readonly format: string; readonly good: readonly string[]; readonly bad: readonly string[] }[] = [
  { format: 'date-time', good: ['2024-02-29T12:00:00Z', '2024-01-01T00:00:00.5+02:00'], bad: ['2023-02-29T12:00:00Z', 'now'] },
  { format: 'date', good: ['2024-02-29'], bad: ['2023-02-29', '24-1-1'] },
  { format: 'uuid', good: ['00000000-0000-0000-0000-000000000000'], bad: ['x'] },
  { format: 'uuid4', good: ['a8098c1a-f86e-41da-bd1a-00112444be1e'], bad: ['a8098c1a-f86e-11da-bd1a-00112444be1e'] },
  { format: 'ipv4', good: ['10.0.0.1'], bad: ['::1', '10.0.0'] },
  { format: 'ipv6', good: ['::1'], bad: ['10.0.0.1'] },
  { format: 'cidr', good: ['10.0.0.0/8'], bad: ['10.0.0.0'] },
  { format: 'mac', good: ['00:11:22:33:44:55'], bad: ['00:11'] },
  { format: 'email', good: ['a@b.c'], bad: ['a.b'] },
  { format: 'hostname', good: ['a-b.example.com'], bad: ['-a', 'a b'] },
  { format: 'uri', good: ['https://a/b', '/x'], bad: ['x'] },
  { format: 'byte', good: ['eHg='], bad: ['*'] },
  { format: 'duration', good: ['1h30m', '3 days'], bad: ['soon'] },
  { format: 'isbn', good: ['0-306-40615-2', '978-3-16-148410-0'], bad: ['0-306-40615-3'] },
  { format: 'creditcard', good: ['4539 1488 0343 6467'], bad: ['4539 1488 0343 6468'] },
  { format: 'hexcolor', good: ['#abc'], bad: ['#abcd'] },
  { format: 'rgbcolor', good: ['rgb(1, 2,255)'], bad: ['rgb(1,2,256)'] },
  { format: 'nobody-knows', good: ['anything'], bad: [] },
]

for (const { format, good, bad } of formats) {
  test(`texts of the format ${format}`, () => {
    const schema: JsonSchema = { type: 'string', format }
    for (const text of good) assert.deepEqual(validateValue(schema, text, 'd'), [], text)
    for (const text of bad) {
      const shown = JSON.stringify(text)
      assert.deepEqual(lines(validateValue(schema, text, 'd')), [
        `d: Invalid value: ${shown}:  in body must be of type ${format}: ${shown}`,
      ])
    }
  })
}

test('choices behind one that fits are not looked at, where one is enough', () => {
  const unread = {
    get type(): string {
      throw new Error('nobody needs to know')
    },
  }
  assert.deepEqual(validateValue({ anyOf: [{ type: 'string' }, { type: 'integer' }, unread] }, 1, ''), [])
})

test('of many thousand values that may be there the message names the first', () => {
  const schema: JsonSchema = { type: 'string', enum: Array.from({ length: 10_000 }, (_, i) => `value${i}`) }
  assert.deepEqual(validateValue(schema, 'value9999', ''), [])
  const [error] = validateValue(schema, 'none', '')
  assert.match(error?.message ?? '', /"value199", and 9800 more$/)
})
