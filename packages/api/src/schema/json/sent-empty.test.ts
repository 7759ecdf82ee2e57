// Empty lists and maps: absent in values, and known to those who ask.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from './node.js'
import { readValue } from './read.js'
import { hasSentEmpty, isSentEmpty } from './sent-empty.js'
import { writeStored } from './write.js'

const inner = s.struct('Inner', { labels: s.field(1, s.map(s.string)), texts: s.field(2, s.list(s.string)) })
const outer = s.struct('Outer', { inner: s.field(1, inner), list: s.field(2, s.list(inner)), name: s.field(3, s.string) })

const read = (value: unknown) => readValue(outer, value).value as { readonly inner?: object; readonly list?: readonly object[] }

test('empty lists and maps are absent, and yet known to have been sent', () => {
  const value = read({ inner: { labels: {}, texts: [] }, list: [], name: '' })
  assert.equal(writeStored(outer, value), '{"inner":{}}')
  assert.ok(isSentEmpty(value, 'list'))
  assert.ok(!isSentEmpty(value, 'name'))
  assert.ok(isSentEmpty({ ...value.inner }, 'labels'))
  assert.ok(isSentEmpty(value.inner, 'texts'))
  assert.ok(hasSentEmpty(value))
})

test('nothing is said of what was not sent', () => {
  const value = read({ inner: { labels: { a: 'b' }, texts: null }, list: [{}], name: 'n' })
  assert.ok(!isSentEmpty(value.inner, 'texts'))
  assert.ok(!hasSentEmpty(value))
  assert.ok(hasSentEmpty(read({ list: [{ texts: [] }] })))
})
