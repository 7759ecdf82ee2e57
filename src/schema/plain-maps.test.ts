// That maps are known to need no escape only where that is so, however they came about.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as s from './node.js'
import { isMarkedPlain } from './plain-maps.js'
import { readValue } from './read.js'
import { readChanged } from './read-changed.js'
import { writeStored } from './write.js'

type Texts = Readonly<Record<string, string | null>>

const thing = s.struct('Thing', { data: s.jsonField(s.map(s.string)) })
const long = 'text of no meaning '.repeat(300)
const start: Texts = { a: long, b: long }

function changed(data: Texts, { before = start, isPlain = true }: { readonly before?: Texts; readonly isPlain?: boolean } = {}) {
  const read = readValue(thing, { data: before }, isPlain).value
  const { value } = readChanged(thing, read, { data })
  const written = writeStored(thing, value)
  const anew = JSON.parse(JSON.stringify(value)) as unknown
  assert.equal(written, writeStored(thing, anew), 'what is known of a map does not change what is written')
  return { isMarked: isMarkedPlain((value as { data: object }).data), written }
}

test('a long map with a plain change stays known as plain', () => {
  assert.ok(changed({ ...start, b: 'other' }).isMarked)
  assert.ok(changed({ ...start, c: 'more' }).isMarked)
  assert.ok(changed({ a: long }).isMarked)
  assert.ok(changed({ ...start, b: null }).isMarked)
})

test('a long map that was not known becomes known when it changes', () => {
  assert.ok(changed({ ...start, b: 'other' }, { isPlain: false }).isMarked)
})

test('what needs an escape is found in a text and in a key', () => {
  for (const text of ['<', 'a&b', '"', '\\', '\n', 'ö', '\u2028', '\ud800']) {
    assert.equal(changed({ ...start, b: text }).isMarked, false, JSON.stringify(text))
    assert.equal(changed({ ...start, [text]: 'b' }).isMarked, false, JSON.stringify(text))
  }
  assert.equal(changed({ ...start, b: '<' }).written.includes('\\u003c'), true)
})

test('a text that needs an escape and stays is found, and so is one of a map that was never looked at', () => {
  assert.equal(changed({ a: long, b: '<', c: 'new' }, { before: { a: long, b: '<' }, isPlain: false }).isMarked, false)
})

test('a short map is not remembered', () => {
  assert.equal(changed({ a: '1', b: '3' }, { before: { a: '1', b: '2' }, isPlain: false }).isMarked, false)
})

test('a name that objects inherit is a key like any other', () => {
  const before = JSON.parse(`{"a":${JSON.stringify(long)},"__proto__":"x"}`) as Texts
  const data = JSON.parse(`{"a":${JSON.stringify(long)},"__proto__":"<"}`) as Texts
  assert.equal(changed(data, { before }).isMarked, false)
})
