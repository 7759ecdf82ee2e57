// Marks of empty lists and maps that were sent.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from '../node.js'
import { readValue } from './read.js'
import { collectSentEmpty, hasSentEmpty, isSentEmpty, restoreSentEmpty } from './sent-empty.js'
import { writeStored } from './write.js'

const inner = s.struct('Inner', { labels: s.field(1, s.map(s.string)), texts: s.field(2, s.list(s.string)) })
const outer = s.struct('Outer', { inner: s.field(1, inner), list: s.field(2, s.list(inner)), name: s.field(3, s.string) })

const read = (value: unknown) => readValue(outer, value).value as { readonly inner?: object; readonly list?: readonly object[] }

test('sent empty lists and maps are dropped and marked', () => {
  const value = read({ inner: { labels: {}, texts: [] }, list: [], name: '' })
  assert.equal(writeStored(outer, value), '{"inner":{}}')
  assert.ok(isSentEmpty(value, 'list'))
  assert.ok(!isSentEmpty(value, 'name'))
  assert.ok(isSentEmpty({ ...value.inner }, 'labels'))
  assert.ok(isSentEmpty(value.inner, 'texts'))
  assert.ok(hasSentEmpty(value))
})

test('absent, null and non-empty fields are not marked', () => {
  const value = read({ inner: { labels: { a: 'b' }, texts: null }, list: [{}], name: 'n' })
  assert.ok(!isSentEmpty(value.inner, 'texts'))
  assert.ok(!hasSentEmpty(value))
  assert.ok(hasSentEmpty(read({ list: [{ texts: [] }] })))
})

test('marks are copied to the JSON copy of an object, in structs, lists and maps', () => {
  const named = s.struct('Named', { outer: s.field(1, outer), byName: s.field(2, s.map(inner)), texts: s.field(3, s.list(s.string)) })
  const sent = { outer: { list: [{}, { texts: [] }], inner: { labels: {} } }, byName: { a: {}, b: { texts: [], labels: {} } }, texts: [] }
  const value = readValue(named, sent).value
  const marks = collectSentEmpty(named, value)
  const copy = JSON.parse(JSON.stringify(value)) as { readonly outer: { readonly list: readonly object[] } }
  assert.ok(marks !== undefined && !hasSentEmpty(copy))
  restoreSentEmpty(copy, marks)
  assert.deepEqual(collectSentEmpty(named, copy), marks)
  assert.ok(isSentEmpty(copy.outer.list[1], 'texts'))
  assert.equal(collectSentEmpty(outer, read({ list: [{}], name: 'n' })), undefined)
})
