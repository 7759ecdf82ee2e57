// Tests of indented JSON: equal to JSON.stringify with indentation, whatever strings contain.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prettyJson } from './pretty-yaml-stream.js'

const values: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: 'object', value: { kind: 'Status', metadata: {}, items: [], code: 404 } },
  { name: 'nested', value: { a: [1, [2, { b: null }], {}], c: { d: { e: true } } } },
  { name: 'JSON punctuation in strings', value: { '{"a":[1,2]}': ',:{}[]', b: 'x\\', c: '\\"', d: '"' } },
  { name: 'string', value: 'a "b" \\' },
  { name: 'number', value: -1.5e-7 },
  { name: 'empty list', value: [] },
  { name: 'empty object', value: {} },
]
for (const { name, value } of values)
  test(`pretty: ${name}`, () => {
    const expected = JSON.stringify(value, undefined, 2)
    assert.equal(prettyJson(JSON.stringify(value)), expected)
    assert.equal(prettyJson(expected), expected)
  })

test('escapes and line breaks in strings are kept', () =>
  assert.equal(prettyJson('{"a":"\\u003c", "b" : { } }\n'), '{\n  "a": "\\u003c",\n  "b": {}\n}'))
