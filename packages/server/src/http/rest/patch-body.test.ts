// Bodies of PATCH requests by patch type: decoded patches, duplicate fields and refusals.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { patchTypeOf, readPatch } from './patch-body.js'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

const bodies: readonly {
  name: string
  type: Parameters<typeof readPatch>[0]
  text: string
  patch?: unknown
  duplicates?: readonly string[]
  refused?: RegExp
}[] = [
  { name: 'a merge patch', type: 'merge', text: '{"a":null}', patch: { a: null } },
  { name: 'duplicate fields', type: 'merge', text: '{"a":1,"a":2}', patch: { a: 2 }, duplicates: ['duplicate field "a"'] },
  { name: 'a list for a merge patch', type: 'merge', text: '[]', refused: /an object is expected/ },
  { name: 'null for a merge patch', type: 'merge', text: 'null', refused: /Invalid JSON Patch/ },
  {
    name: 'JSON patch operations',
    type: 'json',
    text: '[{"op":"test","path":"/a","value":1,"odd":2}]',
    patch: [{ op: 'test', path: '/a', value: 1, odd: 2 }],
    duplicates: ['unknown field "[0].odd"'],
  },
  { name: 'an object for a JSON patch', type: 'json', text: '{}', refused: /a list of operations is expected/ },
  { name: 'invalid JSON', type: 'strategic', text: '{', refused: /: unexpected end of JSON input$/ },
  { name: 'an applied configuration in JSON', type: 'apply', text: '{"kind":"A"}', patch: { kind: 'A' } },
  {
    name: 'an applied configuration in YAML',
    type: 'apply',
    text: 'kind: A\ndata: {n: "1"}\n',
    patch: { kind: 'A', data: { false: '1' } },
  },
  {
    name: 'a repeated key in YAML',
    type: 'apply',
    text: 'a: 1\na: 2\n',
    patch: { a: 2 },
    duplicates: ['line 2: key "a" already set in map'],
  },
  { name: 'a list for an applied configuration', type: 'apply', text: '- 1\n', refused: /must be an object/ },
  { name: 'invalid YAML', type: 'apply', text: 'a: b: c', refused: /error converting YAML to JSON: yaml: / },
]

for (const row of bodies) {
  test(`patch body: ${row.name}`, () => {
    if (row.refused !== undefined) {
      assert.throws(() => readPatch(row.type, bytes(row.text)), row.refused)
      return
    }
    const body = readPatch(row.type, bytes(row.text))
    assert.deepEqual(body.patch, row.patch)
    assert.deepEqual(body.duplicates, row.duplicates ?? [])
  })
}

test('the content type selects the patch type; unknown types are refused with 415', () => {
  assert.equal(patchTypeOf({ 'content-type': 'application/merge-patch+json; charset=utf-8' }), 'merge')
  assert.throws(() => patchTypeOf({ 'content-type': 'application/json' }), /415/)
  assert.throws(() => patchTypeOf({}), /415/)
})
