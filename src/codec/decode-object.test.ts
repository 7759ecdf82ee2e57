// Bodies to objects: the type that is expected, and every unknown or duplicate member in order.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../api/api-error.js'
import { objectMeta } from '../api/meta.schema.js'
import { field, map, string, struct } from '../schema/node.js'
import { decodeBody } from './decode-body.js'
import { decodeJsonObject, strictError } from './decode-object.js'

const meta = struct('ObjectMeta', { name: field(1, string) })
const expected = {
  kind: 'Box',
  apiVersion: 'v1',
  schema: struct('Box', { metadata: field(1, meta), data: field(2, map(string)) }, { typeMeta: true }),
}
const decode = (text: string) => decodeJsonObject(new TextEncoder().encode(text), expected)

const rows: readonly { name: string; text: string; object?: object; problems?: readonly string[] }[] = [
  { name: 'kind and apiVersion may be left out', text: '{"metadata":{"name":"a"}}', object: { metadata: { name: 'a' } } },
  { name: 'and are not part of the object', text: '{"kind":"Box","apiVersion":"v1"}', object: {} },
  { name: 'null is an empty object', text: 'null', object: {} },
  {
    name: 'unknown members in order',
    text: '{"odd":1,"metadata":{"nope":1}}',
    problems: ['unknown field "odd"', 'unknown field "metadata.nope"'],
  },
  {
    name: 'duplicates and unknown members in the order of the document',
    text: '{"data":{"k":"1","k":"2"},"odd":1,"metadata":{"name":"a","name":"b"}}',
    problems: ['duplicate field "data.k"', 'unknown field "odd"', 'duplicate field "metadata.name"'],
  },
  {
    name: 'what is below a name with dots is told apart',
    text: '{"metadata":{"name":"a","name":"b"},"metadata.name":1}',
    problems: ['duplicate field "metadata.name"', 'unknown field "metadata.name"'],
  },
  {
    name: 'of a long name the beginning is told',
    text: `{"${'x'.repeat(600)}":{"a":1}}`,
    problems: [`unknown field "${'x'.repeat(256)}..."`],
  },
  {
    name: 'a path that is a little long is told whole',
    text: `{"metadata":{"${'x'.repeat(300)}":1}}`,
    problems: [`unknown field "metadata.${'x'.repeat(300)}"`],
  },
  {
    name: 'a hundred problems are told',
    text: `{${Array.from({ length: 300 }, (_, i) => `"o${i}":1`).join(',')}}`,
    problems: Array.from({ length: 100 }, (_, i) => `unknown field "o${i}"`),
  },
  { name: 'an unknown member that stands twice is unknown', text: '{"odd":1,"odd":2}', problems: ['unknown field "odd"'] },
]

for (const row of rows) {
  test(`decode: ${row.name}`, () => {
    const decoded = decode(row.text)
    if (row.object !== undefined) assert.deepEqual(decoded.object, row.object)
    assert.deepEqual(decoded.problems, row.problems ?? [])
  })
}

const refused: readonly { name: string; text: string; message: RegExp }[] = [
  { name: 'nothing', text: '', message: /unrecognized \(must be of type Box\): .*unexpected end of JSON input \(<empty>\)$/ },
  { name: 'a list', text: '[]', message: /an object is expected, not an array \(5b5d\)$/ },
  { name: 'a long text', text: `{"metadata":{"name":"${'x'.repeat(50)}"`, message: / \(\{"metadata":\{"name":"xxxxxxxxx \.\.\.\)$/ },
  { name: 'a kind that is no text', text: '{"kind":5}', message: /the field kind is a number/ },
  { name: 'another kind', text: '{"kind":"Bag","apiVersion":"v1"}', message: /^Bag in version "v1" cannot be handled as a Box/ },
  { name: 'another version', text: '{"kind":"Box","apiVersion":"v2"}', message: /\(v2\) does not match the expected API version \(v1\)/ },
  { name: 'a wrong type', text: '{"metadata":"x"}', message: /^Box in version "v1" cannot be handled as a Box: json: metadata: / },
]

for (const row of refused) {
  test(`decode refuses ${row.name}`, () => {
    assert.throws(
      () => decode(row.text),
      (error) => error instanceof ApiError && error.status.code === 400 && row.message.test(error.message),
    )
  })
}

test('a strict request is refused with all problems', () => {
  assert.equal(
    strictError(expected, ['unknown field "a"', 'duplicate field "b"']).message,
    'Box in version "v1" cannot be handled as a Box: strict decoding error: unknown field "a", duplicate field "b"',
  )
})

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

test('YAML is read as JSON whose members are sorted', () => {
  const { problems } = decodeBody('yaml', bytesOf('zed: 1\nmetadata:\n  odd: 1\n  name: a\n  b: 1\napple: 1\n'), expected)
  assert.deepEqual(
    problems,
    ['apple', 'metadata.b', 'metadata.odd', 'zed'].map((name) => `unknown field "${name}"`),
  )
})

test('of a custom object duplicates are told first, and unknown members in the order of its reading', () => {
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
