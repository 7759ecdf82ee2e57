// Tests of slicing JSON documents: members by name, items of lists, rejected documents.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sliceItems, sliceMembers, sliceRecord } from './json-slices.js'

const limits = { depth: 10 }
const slice = (text: string, ...wanted: readonly string[]) =>
  Object.fromEntries(
    Array.from(sliceMembers(Buffer.from(text), new Set(wanted), limits), ([name, members]) => [
      name,
      Object.fromEntries(Array.from(members, ([inner, bytes]) => [inner, JSON.parse(Buffer.from(bytes).toString()) as unknown])),
    ]),
  )

test('sliceMembers slices only the wanted members', () => {
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

test('sliceMembers skips a wanted member that is not an object', () => {
  assert.deepEqual(slice('{"paths":[{"a":1}],"definitions":3}', 'paths', 'definitions'), {})
})

test('sliceRecord returns the last of duplicate members', () => {
  const members = sliceRecord(Buffer.from(' {"a" : {"b":1} ,"a":[2,{"a":3}], "c":"," }\n'))
  assert.deepEqual(
    Array.from(members, ([name, bytes]) => [name, JSON.parse(bytes.toString())]),
    [
      ['a', [2, { a: 3 }]],
      ['c', ','],
    ],
  )
  for (const bad of ['{"a"}', '{1}', '{"a":1,2}', '{a:"b"}', '[]', '{"a":1']) assert.throws(() => sliceRecord(Buffer.from(bad)), bad)
})

test('strings may end with escapes', () => {
  const document = { paths: { a: '\\', 'b\\"': '\\\\"', c: '"' } }
  assert.deepEqual(slice(JSON.stringify(document), 'paths'), document)
})

for (const [problem, text] of [
  ['is truncated', '{"paths":{"a":1}'],
  ['ends inside a string', '{"paths":{"a'],
  ['is not an object', '[1]'],
  ['is truncated', ''],
  ['nests more than 10 levels deep', `{"a":${'['.repeat(20)}${']'.repeat(20)}}`],
] as const)
  test(`a document that ${problem} is rejected: ${text.slice(0, 20)}`, () =>
    assert.throws(() => slice(text, 'paths'), new RegExp(`the document ${problem}`)))

const items = (text: string): readonly unknown[] => sliceItems(Buffer.from(text)).map((bytes) => JSON.parse(bytes.toString()) as unknown)

test('sliceItems returns the items of a list', () => {
  const lists = [
    [],
    [1],
    ['a,b]', '"\\', {}],
    [[1, [2]], { a: [3, { b: ',' }] }, null, true, ' '],
    Array.from({ length: 20_000 }, (_, i) => ({ i })),
  ]
  for (const list of lists) for (const space of [0, 2]) assert.deepEqual(items(JSON.stringify(list, undefined, space)), list)
  assert.deepEqual(items(' [ ] '), [])
  const whitespace = '\n'.padEnd(100)
  assert.deepEqual(items(`[${whitespace}{},${whitespace}1${whitespace}]`), [{}, 1])
  for (const bad of ['', '{}', '[', '[1', '["', '7', '"[]"']) assert.throws(() => items(bad), bad)
})
