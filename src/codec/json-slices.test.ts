// Members are found where they are, whatever stands between them, and what is no document is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../base/pieces.js'
import { placeOfMember, sliceItems, sliceMembers, sliceRecord } from './json-slices.js'

const limits = { depth: 10 }
const slice = (text: string, ...wanted: readonly string[]) =>
  Object.fromEntries(
    Array.from(atOnce(sliceMembers(Buffer.from(text), new Set(wanted), limits)), ([name, members]) => [
      name,
      Object.fromEntries(Array.from(members, ([inner, bytes]) => [inner, JSON.parse(Buffer.from(bytes).toString()) as unknown])),
    ]),
  )

test('members of the wanted members, and of no others', () => {
  const document = {
    swagger: '2.0',
    paths: { '/a': { get: { paths: { deep: [1, { definitions: {} }] } } }, '/b "\\': [], '/c': 'x,}{"', '/d': 7, '/e': null },
    other: { '/a': 1 },
    definitions: {},
    list: [{ paths: { no: 1 } }],
    end: { ä: '\u2028' },
  }
  for (const space of [0, 2]) {
    const text = JSON.stringify(document, undefined, space)
    assert.deepEqual(slice(text, 'paths', 'definitions', 'end'), {
      paths: document.paths,
      definitions: {},
      end: document.end,
    })
  }
})

test('a wanted member that is no object has no members', () => {
  assert.deepEqual(slice('{"paths":[{"a":1}],"definitions":3}', 'paths', 'definitions'), {})
})

test('the members of a document itself, the later of two of one name', () => {
  const members = atOnce(sliceRecord(Buffer.from(' {"a" : {"b":1} ,"a":[2,{"a":3}], "c":"," }\n')))
  assert.deepEqual(
    Array.from(members, ([name, bytes]) => [name, JSON.parse(bytes.toString())]),
    [
      ['a', [2, { a: 3 }]],
      ['c', ','],
    ],
  )
  for (const bad of ['{"a"}', '{1}', '{"a":1,2}', '{a:"b"}', '[]', '{"a":1'])
    assert.throws(() => atOnce(sliceRecord(Buffer.from(bad))), bad)
})

test('texts may end with escapes', () => {
  const document = { paths: { a: '\\', 'b\\"': '\\\\"', c: '"' } }
  assert.deepEqual(slice(JSON.stringify(document), 'paths'), document)
})

for (const [why, text] of [
  ['is cut short', '{"paths":{"a":1}'],
  ['ends within a text', '{"paths":{"a'],
  ['is no object', '[1]'],
  ['is cut short', ''],
  ['nests more than 10 levels deep', `{"a":${'['.repeat(20)}${']'.repeat(20)}}`],
] as const)
  test(`what ${why} is refused: ${text.slice(0, 20)}`, () => assert.throws(() => slice(text, 'paths'), new RegExp(`the document ${why}`)))

const items = (text: string): readonly unknown[] =>
  atOnce(sliceItems(Buffer.from(text))).map((bytes) => JSON.parse(bytes.toString()) as unknown)

test('the items of a list, one by one', () => {
  const lists = [
    [],
    [1],
    ['a,b]', '"\\', {}],
    [[1, [2]], { a: [3, { b: ',' }] }, null, true, ' '],
    Array.from({ length: 20_000 }, (_, i) => ({ i })),
  ]
  for (const list of lists) for (const space of [0, 2]) assert.deepEqual(items(JSON.stringify(list, undefined, space)), list)
  assert.deepEqual(items(' [ ] '), [])
  const far = '\n'.padEnd(100)
  assert.deepEqual(items(`[${far}{},${far}1${far}]`), [{}, 1])
  for (const bad of ['', '{}', '[', '[1', '["', '7', '"[]"']) assert.throws(() => items(bad), bad)
})

test('where a member stands, and nothing behind it', () => {
  const place = (text: string, name: string): number | undefined => placeOfMember(Buffer.from(text), 1, name)
  const members = {
    b: { metadata: { no: 1 } },
    'x"metadata': 1,
    c: ['metadata', ','],
    d: 'metadata',
    metadata: { a: [1, { b: '},"' }] },
    e: 2,
  }
  for (const space of [0, 2]) {
    const text = JSON.stringify(members, undefined, space)
    for (const name of ['b', 'c', 'd', 'e']) assert.equal(place(text, name), text.indexOf(`"${name}":`))
    assert.equal(place(text, 'metadata'), text.lastIndexOf('"metadata":'))
    assert.equal(place(text, 'no'), text.length - 1)
  }
  assert.equal(place('{"a":{},"metadata":{"a":1},"rest":"cut short', 'metadata'), 8)
  assert.equal(place('{"a":{},"rest":"cut short', 'metadata'), undefined)
  assert.equal(place('{"a":[1', 'b'), undefined)
  assert.equal(place('{}}', 'b'), 1)
})
