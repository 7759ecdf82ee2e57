// Members are found where they are, whatever stands between them, and what is no document is refused.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atOnce } from '../base/pieces.js'
import { membersWithout, sliceItems, sliceMembers, sliceRecord } from './json-slices.js'

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

test('members without some, and nothing from a last one on', () => {
  const without = (text: string, names: readonly string[], last = ''): unknown => {
    const kept = membersWithout(Buffer.from(text), 1, { names: new Set(names), last })
    if (kept !== undefined) assert.ok(text.startsWith('}', kept.end) || text.startsWith(`"${last}"`, kept.end))
    return kept && JSON.parse(`{${kept.members.join(',')}}`)
  }
  const members: { readonly [name: string]: unknown } = {
    b: { metadata: { no: 1 } },
    'x"metadata': 1,
    c: ['metadata', ','],
    d: `metadata\\"${'far'.repeat(30)}`,
    metadata: { a: [1, { b: '},"' }] },
    e: 2,
  }
  const names = Object.keys(members)
  for (const space of [0, 2]) {
    const text = JSON.stringify(members, undefined, space)
    for (const [i, name] of names.entries()) {
      if (name === 'x"metadata') continue
      assert.deepEqual(without(text, [name, 'no']), Object.fromEntries(Object.entries(members).filter(([each]) => each !== name)), name)
      assert.deepEqual(Object.keys(without(text, [], name) as object), names.slice(0, i))
    }
  }
  assert.deepEqual(without('{"a":{},"metadata":{"a":1},"rest":"cut short', ['a'], 'rest'), { metadata: { a: 1 } })
  for (const short of ['{"a":{},"rest":"cut short', '{"a":[1', '{"a":{}']) assert.equal(without(short, []), undefined)
  assert.deepEqual(without('{}}', []), {})
})
