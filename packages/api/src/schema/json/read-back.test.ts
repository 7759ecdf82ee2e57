// readBackFields must return what writing and parsing the value returns.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  any,
  boolean,
  bytes,
  field,
  int32,
  intOrString,
  lazy,
  list,
  map,
  number,
  quantity,
  type StructNode,
  string,
  struct,
  time,
} from '../node.js'
import { readBackFields } from './read-back.js'
import { hasSentEmpty, markSentEmpty } from './sent-empty.js'
import { writeStoredFields } from './write.js'

const inner = struct('Inner', { a: field(1, string), n: field(2, int32, { always: true }) })
const open = struct('Open', { b: field(1, string), z: field(2, inner) }, { rest: any('json') })
const self: StructNode = struct('Self', {
  name: field(1, string),
  next: field(
    2,
    lazy(() => self),
    { pointer: true },
  ),
})
const entry = struct('Entry', { who: field(1, string), fields: field(2, any('fields'), { pointer: true }), part: field(3, string) })
const thing = struct('Thing', {
  name: field(1, string),
  must: field(2, string, { always: true }),
  items: field(3, list(inner)),
  flag: field(4, boolean, { pointer: true }),
  labels: field(5, map(string)),
  data: field(6, map(bytes)),
  structs: field(7, map(inner)),
  spec: field(8, inner),
  ref: field(9, inner, { pointer: true }),
  raw: field(10, any('json')),
  count: field(11, int32),
  share: field(12, number),
  port: field(13, intOrString, { pointer: true }),
  amounts: field(14, map(quantity)),
  open: field(15, open, { pointer: true }),
  self: field(16, self, { pointer: true }),
  numbers: field(17, list(number)),
  texts: field(18, list(string)),
  entries: field(19, list(entry)),
  at: field(23, time, { always: true }),
  maybe: field(24, { ...string, nullable: true }),
  shares: field(20, map(number)),
  counts: field(21, map(int32)),
  ports: field(22, map(intOrString)),
  extra: field(25, map(list(string))),
})

const parsed = (value: object): unknown => JSON.parse(`{${writeStoredFields(thing, value)}}`)

const cases: readonly object[] = [
  {},
  { name: 'n', must: 'm', items: [], flag: false, labels: {}, count: 0, share: 0, spec: {}, ref: {}, raw: {} },
  { name: '', must: '', items: [{ a: '', n: 0 }, { a: 'x', n: -0 }, {}], share: -0, port: 0, raw: [-0, null, 'x', { y: undefined, z: 1 }] },
  { labels: { b: '1', a: '2' }, structs: { z: { n: 1 }, y: { a: '' } }, amounts: { cpu: '1', b: '2' } },
  { labels: { 10: 'x', 9: 'y', a: 'z' }, raw: { 10: 1, 9: 2 } },
  { labels: JSON.parse('{"__proto__":"p","a":"b"}'), raw: JSON.parse('{"__proto__":{"a":1}}') },
  { labels: { '｡': '1', '😀': '2' }, data: { '😀': 'eA==', '｡': '' } },
  { labels: { 'a\ud800': 'v\udc00' }, name: '\ud800', raw: { 'k\ud800': ['\udfff'] } },
  { name: 'n', unknown: 'dropped', ref: { a: undefined, more: 1 }, flag: undefined, port: 'http' },
  { numbers: [-0, 1], texts: ['a', '\ud800'], entries: [{ fields: { 'f:a': { '.': {} } }, who: 'w', part: '' }, { more: 1 }] },
  { shares: { a: -0, b: 1 }, counts: { b: 1, a: -0 }, ports: { b: 'x', a: -0 } },
  { name: null, must: null, items: null, flag: null, spec: null, ref: null, raw: null, port: null, at: null, maybe: null },
  { raw: { a: null }, texts: ['a', null], labels: { a: null }, open: { b: null, z: null, other: null }, at: '2026-01-01T00:00:00Z' },
  { extra: { a: null, b: ['x'] }, labels: { a: null } },
  { open: { b: '', other: { deep: [1] }, a: 'x', kind: 'K' }, self: { name: 'a', next: { next: { name: '<&>' } } } },
]

for (const value of cases)
  test(`readBackFields equals write and parse: ${JSON.stringify(value)}`, () => {
    const before = structuredClone(value)
    const back = readBackFields(thing, value)
    assert.deepStrictEqual(back, parsed(value))
    assert.equal(JSON.stringify(back), JSON.stringify(parsed(value)), 'same order of members')
    assert.deepEqual(value, before)
  })

test('loose values are read back without marks of members that were sent empty', () => {
  const metadata = { labels: {} }
  markSentEmpty(metadata, 'labels')
  const back = readBackFields(thing, { raw: { metadata } }) as { raw: { metadata: object } }
  assert.deepEqual(back, { ...(parsed({}) as object), raw: { metadata: { labels: {} } } })
  assert.equal(hasSentEmpty(back), false)
})

test('fields with names that every object inherits are written and read back only if the value has them', () => {
  const names = ['__proto__', 'constructor', 'toString']
  const odd = struct('Odd', Object.fromEntries(names.map((name) => [name, field(1, string, { pointer: true })])))
  for (const text of ['{}', '{"__proto__":"p"}', '{"__proto__":"p","constructor":"c","toString":"t"}']) {
    const value: unknown = JSON.parse(text)
    assert.equal(`{${writeStoredFields(odd, value)}}`, text)
    assert.equal(JSON.stringify(readBackFields(odd, value)), text)
  }
})

test('managedFields entries are shared between versions, and their cached text equals a fresh one', () => {
  const first = {
    entries: [
      { who: 'w', fields: { 'f:a': {} } },
      { who: '<x>', fields: { 'f:b': {} }, part: 'p' },
    ],
  }
  const second = readBackFields(thing, first) as typeof first
  writeStoredFields(thing, second)
  const third = readBackFields(thing, second) as typeof first
  assert.equal(third.entries, second.entries)
  assert.equal(writeStoredFields(thing, third), writeStoredFields(thing, structuredClone(third)))
  const [kept, other] = third.entries
  const changed = { entries: [{ ...kept, who: 'v' }, other] }
  assert.equal(writeStoredFields(thing, changed), writeStoredFields(thing, structuredClone(changed)))
  const back = readBackFields(thing, changed) as typeof first
  assert.deepEqual(back.entries, changed.entries)
  assert.equal(back.entries[1], other)
})

test('a list of strings is shared with the value, a list of structs is not', () => {
  const value = { texts: ['a', 'b'], items: [{ a: 'x', n: 1 }] }
  const back = readBackFields(thing, value) as typeof value
  assert.equal(back.texts, value.texts)
  assert.notEqual(back.items, value.items)
})
