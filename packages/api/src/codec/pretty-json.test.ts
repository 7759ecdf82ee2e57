// Indented JSON: the same as indenting the parsed value, whatever stands inside quotes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { prettyJson } from './pretty.js'

const values: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: 'object', value: { kind: 'Status', metadata: {}, items: [], code: 404 } },
  { name: 'nested', value: { a: [1, [2, { b: null }], {}], c: { d: { e: true } } } },
  { name: 'signs in texts', value: { '{"a":[1,2]}': ',:{}[]', b: 'x\\', c: '\\"', d: '"' } },
  { name: 'a text', value: 'a "b" \\' },
  { name: 'a number', value: -1.5e-7 },
  { name: 'empty list', value: [] },
  { name: 'empty object', value: {} },
]
for (const { name, value } of values)
  test(`pretty: ${name}`, () => {
    const wanted = JSON.stringify(value, undefined, 2)
    assert.equal(prettyJson(JSON.stringify(value)), wanted)
    assert.equal(prettyJson(wanted), wanted)
  })

test('escapes and a line end stay out of it', () =>
  assert.equal(prettyJson('{"a":"\\u003c", "b" : { } }\n'), '{\n  "a": "\\u003c",\n  "b": {}\n}'))
