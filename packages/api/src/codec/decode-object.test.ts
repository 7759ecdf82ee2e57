// Tests of decoding request bodies: expected kind and version, unknown and duplicate fields in order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { objectMeta } from '../api/meta.schema.js'
import { field, map, string, struct } from '../schema/node.js'
import { decodeBody, decodeJsonObject, strictError } from './decode-object.js'

const meta = struct('ObjectMeta', { name: field(1, string) })
const expected = {
  kind: 'Box',
  apiVersion: 'v1',
  schema: struct('Box', { metadata: field(1, meta), data: field(2, map(string)) }, { typeMeta: true }),
}
const decode = (text: string) => decodeJsonObject(new TextEncoder().encode(text), expected)

const rows: readonly (readonly [name: string, text: string, object?: object | undefined, problems?: readonly string[]])[] = [
  ['kind and apiVersion may be left out', '{"metadata":{"name":"a"}}', { metadata: { name: 'a' } }],
  ['kind and apiVersion are not part of the decoded object', '{"kind":"Box","apiVersion":"v1"}', {}],
  ['null is an empty object', 'null', {}],
  ['unknown fields in order', '{"odd":1,"metadata":{"nope":1}}', undefined, ['unknown field "odd"', 'unknown field "metadata.nope"']],
  [
    'duplicate and unknown fields are reported in document order',
    '{"data":{"k":"1","k":"2"},"odd":1,"metadata":{"name":"a","name":"b"}}',
    undefined,
    ['duplicate field "data.k"', 'unknown field "odd"', 'duplicate field "metadata.name"'],
  ],
  [
    'a field name with a dot differs from a nested field',
    '{"metadata":{"name":"a","name":"b"},"metadata.name":1}',
    undefined,
    ['duplicate field "metadata.name"', 'unknown field "metadata.name"'],
  ],
  ['a field name of 600 characters is truncated', `{"${'x'.repeat(600)}":{"a":1}}`, undefined, [`unknown field "${'x'.repeat(256)}..."`]],
  [
    'a field path of 300 characters is not truncated',
    `{"metadata":{"${'x'.repeat(300)}":1}}`,
    undefined,
    [`unknown field "metadata.${'x'.repeat(300)}"`],
  ],
  [
    'at most 100 problems are reported',
    `{${Array.from({ length: 300 }, (_, i) => `"o${i}":1`).join(',')}}`,
    undefined,
    Array.from({ length: 100 }, (_, i) => `unknown field "o${i}"`),
  ],
  ['a duplicate unknown field is reported once, as unknown', '{"odd":1,"odd":2}', undefined, ['unknown field "odd"']],
]

for (const [name, text, object, problems = []] of rows) {
  test(`decode: ${name}`, () => {
    const decoded = decode(text)
    if (object !== undefined) assert.deepEqual(decoded.object, object)
    assert.deepEqual(decoded.problems, problems)
  })
}

const refused: readonly (readonly [name: string, text: string, message: RegExp])[] = [
  ['an empty body', '', /unrecognized \(must be of type Box\): .*unexpected end of JSON input \(<empty>\)$/],
  ['a list', '[]', /an object is expected, not an array \(5b5d\)$/],
  ['a truncated body, shortened', `{"metadata":{"name":"${'x'.repeat(50)}"`, / \(\{"metadata":\{"name":"xxxxxxxxx \.\.\.\)$/],
  ['a kind that is not a string', '{"kind":5}', /the field kind is a number/],
  ['a body of another kind', '{"kind":"Bag","apiVersion":"v1"}', /^Bag in version "v1" cannot be handled as a Box/],
  ['a body of another version', '{"kind":"Box","apiVersion":"v2"}', /\(v2\) does not match the expected API version \(v1\)/],
  ['a field of the wrong type', '{"metadata":"x"}', /^Box in version "v1" cannot be handled as a Box: json: metadata: /],
]

for (const [name, text, message] of refused) {
  test(`decode rejects ${name}`, () => {
    assert.throws(
      () => decode(text),
      (error) => error instanceof ApiError && error.status.code === 400 && message.test(error.message),
    )
  })
}

test('strictError lists all problems', () => {
  assert.equal(
    strictError(expected, ['unknown field "a"', 'duplicate field "b"']).message,
    'Box in version "v1" cannot be handled as a Box: strict decoding error: unknown field "a", duplicate field "b"',
  )
})

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('problems of YAML are in sorted member order', () => {
  const { problems } = decodeBody('yaml', bytesOf('zed: 1\nmetadata:\n  odd: 1\n  name: a\n  b: 1\napple: 1\n'), expected)
  assert.deepEqual(
    problems,
    ['apple', 'metadata.b', 'metadata.odd', 'zed'].map((name) => `unknown field "${name}"`),
  )
})

test('a custom resource reports duplicates first, then unknown fields in pruning order', () => {
  const custom = {
    kind: 'Bag',
    apiVersion: 'e.com/v1',
    schema: struct('Bag', { metadata: field(1, objectMeta), spec: field(2, struct('spec', { a: field(1, string) })) }, { typeMeta: true }),
    definition: { custom: {} },
  }
  const text = '{"kind":"Bag","apiVersion":"e.com/v1","zed":1,"spec":{"b":1,"b":2,"a":"","a":""},"metadata":{"z":1,"name":"n"}}'
  assert.deepEqual(decodeBody('json', bytesOf(text), custom).problems, [
    'duplicate field "spec.b"',
    'duplicate field "spec.a"',
    'unknown field "metadata.z"',
    'unknown field "spec.b"',
    'unknown field "zed"',
  ])
})
