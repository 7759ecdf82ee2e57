// Tests of JSON schema validation with the error messages of kube-apiserver.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frozen, lines } from '../../../api/rule-context.fixture.js'
import type { JsonSchema } from '../schema/json-schema.js'
import { validateValue } from './validate-value.js'

type Row = readonly [title: string, schema: JsonSchema, value: unknown, problem?: string | undefined]

const aOrB: JsonSchema = { oneOf: [{ required: ['a'] }, { required: ['b'] }] }
const rows: readonly Row[] = [
  ['type string accepts a string', { type: 'string' }, 'x'],
  ['type string rejects a number', { type: 'string' }, 5, 'x: Invalid value: "integer": x in body must be of type string: "integer"'],
  ['type integer rejects a fraction', { type: 'integer' }, 1.5, 'x: Invalid value: "number": x in body must be of type integer: "number"'],
  ['format hostname accepts a domain name', { type: 'string', format: 'hostname' }, 'a-b.example.com'],
  ['format hostname accepts a single label', { type: 'string', format: 'hostname' }, 'a-b'],
  [
    'format hostname rejects a last label of one letter',
    { type: 'string', format: 'hostname' },
    'a.b',
    'x: Invalid value: "a.b": x in body must be of type hostname: "a.b"',
  ],
  ['type number accepts an integer', { type: 'number' }, 2],
  ['type integer accepts a bigint', { type: 'integer', minimum: 0 }, 9223372036854775807n],
  ['type integer accepts a float slightly above a whole number', { type: 'integer' }, 3.0000000001],
  ...[1e21, 9007199254740992, 9223372036854775808n].map(
    (value): Row => [
      `type integer rejects ${value}, which is a float64`,
      { type: 'integer' },
      value,
      'x: Invalid value: "number": x in body must be of type integer: "number"',
    ],
  ),
  [
    'x-kubernetes-int-or-string rejects an integer beyond int64',
    { 'x-kubernetes-int-or-string': true },
    9223372036854775808n,
    'x: Invalid value: "number": x in body must be of type integer,string: "number"',
  ],
  [
    'items rejects an integer beyond int64',
    { type: 'array', items: { type: 'integer' } },
    [1e21],
    'x[0]: Invalid value: "number": x[0] in body must be of type integer: "number"',
  ],
  ['type number accepts an integer beyond int64', { type: 'number' }, 9223372036854775808n],
  ['type object rejects an array', { type: 'object' }, [], 'x: Invalid value: "array": x in body must be of type object: "array"'],
  ['type object rejects null', { type: 'object' }, null, 'x: Invalid value: "null": x in body must be of type object: "null"'],
  ['nullable accepts null', { type: 'object', nullable: true }, null],
  ['x-kubernetes-int-or-string accepts a string', { 'x-kubernetes-int-or-string': true }, '50%'],
  [
    'x-kubernetes-int-or-string rejects a boolean',
    { 'x-kubernetes-int-or-string': true },
    true,
    'x: Invalid value: "boolean": x in body must be of type integer,string: "boolean"',
  ],
  [
    'items rejects an item of the wrong type',
    { type: 'array', items: { type: 'integer' } },
    [1, 'two'],
    'x[1]: Invalid value: "string": x[1] in body must be of type integer: "string"',
  ],
  ['minimum rejects a smaller number', { minimum: 3 }, 2, 'x: Invalid value: 2: x in body should be greater than or equal to 3'],
  ['exclusiveMinimum rejects 3', { minimum: 3, exclusiveMinimum: true }, 3, 'x: Invalid value: 3: x in body should be greater than 3'],
  [
    'maximum rejects a larger integer',
    { maximum: 1_000_000 },
    1_000_001,
    'x: Invalid value: 1000001: x in body should be less than or equal to 1000000',
  ],
  [
    'maximum shows a fraction in exponent notation',
    { maximum: 1_000_000 },
    1_000_000.5,
    'x: Invalid value: 1.0000005e+06: x in body should be less than or equal to 1e+06',
  ],
  [
    'a fractional maximum of integers is truncated',
    { maximum: 2.5 },
    3,
    'x: Invalid value: 3: x in body should be less than or equal to 2',
  ],
  [
    'a fractional maximum of a float64 keeps its fraction',
    { maximum: 1.5 },
    1e21,
    'x: Invalid value: 1e+21: x in body should be less than or equal to 1.5',
  ],
  [
    'maximum compares integers beyond 2^53 exactly',
    { maximum: 9007199254740992 },
    9007199254740993n,
    'x: Invalid value: 9007199254740993: x in body should be less than or equal to 9007199254740992',
  ],
  ['a fractional minimum of integers is truncated', { minimum: 1.5 }, 1],
  ['a fractional multipleOf of integers is truncated', { multipleOf: 2.5 }, 5, 'x: Invalid value: 5: x in body should be a multiple of 2'],
  ['multipleOf rejects a rounding error', { multipleOf: 0.01 }, 19.99, 'x: Invalid value: 19.99: x in body should be a multiple of 0.01'],
  ['multipleOf accepts a large multiple', { multipleOf: 5 }, 9007199254740995n],
  ...([1000000001, 2147483648, 9007199254740993n] as const).map(
    (value): Row => [
      `multipleOf 5 rejects ${value}`,
      { multipleOf: 5 },
      value,
      `x: Invalid value: ${value}: x in body should be a multiple of 5`,
    ],
  ),
  [
    'multipleOf 2 rejects -2147483649',
    { multipleOf: 2 },
    -2147483649,
    'x: Invalid value: -2147483649: x in body should be a multiple of 2',
  ],
  [
    'multipleOf rejects a quotient beyond 2^53',
    { multipleOf: 0.5 },
    1e21,
    'x: Invalid value: 1e+21: x in body should be a multiple of 0.5',
  ],
  [
    'a negative multipleOf rejects integers',
    { multipleOf: -1 },
    3,
    'x: Invalid value: -1: factor MultipleOf declared for x must be positive: -1',
  ],
  [
    'a negative multipleOf rejects fractions',
    { multipleOf: -1.5 },
    4.5,
    'x: Invalid value: -1.5: factor MultipleOf declared for x must be positive: -1.5',
  ],
  [
    'format date rejects a float64',
    { type: 'string', format: 'date' },
    1e21,
    'x: Invalid value: "float64": x in body must be of type date: "float64"',
  ],
  ['format date rejects 5', { type: 'string', format: 'date' }, 5, 'x: Invalid value: "int64": x in body must be of type date: "int64"'],
  ['format date rejects an object', { type: 'string', format: 'date' }, {}, 'x: Invalid value: "": x in body must be of type date: ""'],
  ['format date accepts an array', { type: 'string', format: 'date' }, ['a']],
  ['multipleOf 0.1 accepts 0.3', { multipleOf: 0.1 }, 0.3],
  ['multipleOf 0.5 rejects 0.7', { multipleOf: 0.5 }, 0.7, 'x: Invalid value: 0.7: x in body should be a multiple of 0.5'],
  ['minLength rejects a shorter string', { minLength: 3 }, 'ab', 'x: Invalid value: "ab": x in body should be at least 3 chars long'],
  ['maxLength counts characters, not bytes', { maxLength: 5 }, 'héllo'],
  ['maxLength is reported before pattern', { maxLength: 3, pattern: 'x' }, 'héllo', 'x: Too long: may not be longer than 3'],
  ['pattern rejects a different string', { pattern: '^[a-z]+$' }, 'A1', 'x: Invalid value: "A1": x in body should match \'^[a-z]+$\''],
  ['enum rejects other values', { enum: ['a', 1] }, 'c', 'x: Unsupported value: "c": supported values: "a", "1"'],
  ['enum truncates a fraction', { enum: [1, 2] }, 1.5],
  ['enum rejects a fraction of another integer', { enum: [1, 2] }, 7.5, 'x: Unsupported value: 7.5: supported values: "1", "2"'],
  ['enum accepts an integer beyond 2^53', { enum: [9007199254740993n] }, 9007199254740993n],
  [
    'enum distinguishes integers beyond 2^53',
    { enum: [9007199254740993n] },
    9007199254740994n,
    'x: Unsupported value: 9007199254740994: supported values: "9007199254740993"',
  ],
  ['enum accepts the code point of an allowed character, like kube-apiserver', { enum: ['a'] }, 97],
  ['enum rejects null', { enum: ['a', null] }, null, 'x: Unsupported value: "null": supported values: "a", "null"'],
  ['minItems rejects a shorter array', { minItems: 2 }, ['a'], 'x: Invalid value: 1: x in body should have at least 2 items'],
  ['maxItems rejects a longer array', { maxItems: 1 }, ['a', 'b'], 'x: Too many: 2: must have at most 1 items'],
  ['minProperties rejects fewer properties', { minProperties: 1 }, {}, 'x: Invalid value: 0: x in body should have at least 1 properties'],
  ['maxProperties rejects more properties', { maxProperties: 1 }, { a: 1, b: 2 }, 'x: Too many: 2: must have at most 1 items'],
  ['required rejects a missing property', { required: ['a'] }, {}, 'x.a: Required value'],
  [
    'additionalProperties rejects a value of the wrong type',
    { additionalProperties: { type: 'string' } },
    { a: 1 },
    'x.a: Invalid value: "integer": x.a in body must be of type string: "integer"',
  ],
  [
    'additionalProperties: false rejects a key',
    { type: 'object', additionalProperties: false },
    { a: 1 },
    'x: Invalid value: "a": x.a in body is a forbidden property',
  ],
  ['oneOf accepts one matching schema', aOrB, { a: 1 }],
  [
    'oneOf rejects two matching schemas',
    aOrB,
    { a: 1, b: 2 },
    ': Invalid value: "": "x" must validate one and only one schema (oneOf). Found 2 valid alternatives',
  ],
  ['not rejects a matching value', { not: { required: ['a'] } }, { a: 1 }, ': Invalid value: "": "x" must not validate the schema (not)'],
]

for (const [title, schema, value, problem] of rows) {
  test(title, () => {
    const errors = lines(validateValue(frozen({ type: 'object', properties: { x: schema } }), { x: value }, ''))
    assert.deepEqual(errors, problem === undefined ? [] : [problem])
  })
}

test('anyOf reports the errors of the schema with the most checks', () => {
  const schema: JsonSchema = { anyOf: [{ minimum: 10 }, { type: 'integer', maximum: -1 }] }
  assert.deepEqual(lines(validateValue(schema, 0, 'd')), [
    'd: Invalid value: "": "" must validate at least one schema (anyOf)',
    'd: Invalid value: 0:  in body should be less than or equal to -1',
  ])
})

test('a check that passes counts more than one that fails, and a matching inner alternative counts', () => {
  const report = (...anyOf: readonly JsonSchema[]): string => String(lines(validateValue({ anyOf }, 'text', 'd'))[1])
  assert.match(report({ format: 'ipv4' }, { maxLength: 1 }), /ipv4/)
  assert.match(report({ maxLength: 1 }, { anyOf: [{ minLength: 1 }], pattern: '^x' }), /should match/)
  assert.match(report({ maxLength: 1 }, { format: 'unknown', pattern: '^x' }), /Too long/)
})

const formats: readonly (readonly [format: string, accepted: readonly string[], rejected: readonly string[]])[] = [
  ['date', ['2024-02-29'], ['2023-02-29', '24-1-1']],
  ['uuid', ['00000000-0000-0000-0000-000000000000'], ['x']],
  ['uuid4', ['a8098c1a-f86e-41da-bd1a-00112444be1e'], ['a8098c1a-f86e-11da-bd1a-00112444be1e']],
  ['ipv6', ['::1'], ['10.0.0.1']],
  ['hostname', ['a-b.example.com'], ['-a', 'a b']],
  ['isbn', ['0-306-40615-2', '978-3-16-148410-0'], ['0-306-40615-3']],
  ['hexcolor', ['#abc'], ['#abcd']],
  ['rgbcolor', ['rgb(1, 2,255)'], ['rgb(1,2,256)']],
  ['unknown-format', ['anything'], []],
]

for (const [format, accepted, rejected] of formats) {
  test(`format ${format}`, () => {
    const schema: JsonSchema = { type: 'string', format }
    for (const text of accepted) assert.deepEqual(validateValue(schema, text, 'd'), [], text)
    for (const text of rejected) {
      const shown = JSON.stringify(text)
      assert.deepEqual(lines(validateValue(schema, text, 'd')), [
        `d: Invalid value: ${shown}:  in body must be of type ${format}: ${shown}`,
      ])
    }
  })
}

test('an enum of thousands lists its first values', () => {
  const schema: JsonSchema = { type: 'string', enum: Array.from({ length: 10_000 }, (_, i) => `value${i}`) }
  assert.deepEqual(validateValue(schema, 'value9999', ''), [])
  const [error] = validateValue(schema, 'none', '')
  assert.match(error?.message ?? '', /"value199", and 9800 more$/)
})
