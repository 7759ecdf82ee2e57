// The search for marks: what it must find, and what it must leave alone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignMarks, newMark, ownerOf } from './marks.js'

const own = newMark(1, 'a')
const other = newMark(1, 'b')
const found = (text: string | Buffer): readonly string[] => foreignMarks(Buffer.from(text), own).map((mark) => mark.text)

test('a mark is found raw, at any place', () => {
  for (const text of [other, `x${other}`, `{"a":"${other}"}`, `${own},${other}`]) assert.deepEqual(found(text), [other])
  assert.equal(ownerOf(other), 'b')
})

test('a mark is found in base64, at every alignment', () => {
  for (const before of ['', 'x', 'xy', 'xyz'])
    for (const after of ['', '1', '12', '-'])
      assert.deepEqual(found(`"${Buffer.from(`${before}${other}${after}`).toString('base64')}"`), [other], `${before} ${after}`)
})

test('the own mark is none, and neither is a piece of it at the end', () => {
  assert.deepEqual(found(`${own} ${own.slice(0, 15)}`), [])
  for (const before of ['', 'x', 'xy']) assert.deepEqual(found(Buffer.from(`${before}${own}`).toString('base64')), [])
})

test('a damaged mark is foreign', () => {
  const damaged = `${own.slice(0, 20)}zzzz`
  assert.deepEqual(found(`"${damaged}"`), [damaged])
})
