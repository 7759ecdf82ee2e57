// Tests of the search for marks (a secret text per tenant): finds marks of other tenants, raw and in base64, and nothing else.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignMarks, newMark, ownerOf } from './marks.js'

const ownMark = newMark(1, 'a')
const otherMark = newMark(1, 'b')
const findMarks = (text: string | Buffer): readonly string[] => foreignMarks(Buffer.from(text), ownMark).map((mark) => mark.text)

test('finds a raw mark at any offset', () => {
  for (const text of [otherMark, `x${otherMark}`, `{"a":"${otherMark}"}`, `${ownMark},${otherMark}`])
    assert.deepEqual(findMarks(text), [otherMark])
  assert.equal(ownerOf(otherMark), 'b')
})

test('finds a mark in base64, at every alignment', () => {
  for (const before of ['', 'x', 'xy', 'xyz'])
    for (const after of ['', '1', '12', '-'])
      assert.deepEqual(findMarks(`"${Buffer.from(`${before}${otherMark}${after}`).toString('base64')}"`), [otherMark], `${before} ${after}`)
})

test('ignores its own mark, also if it is cut off at the end', () => {
  assert.deepEqual(findMarks(`${ownMark} ${ownMark.slice(0, 15)}`), [])
  for (const before of ['', 'x', 'xy']) assert.deepEqual(findMarks(Buffer.from(`${before}${ownMark}`).toString('base64')), [])
})

test('reports a damaged mark', () => {
  const damaged = `${ownMark.slice(0, 20)}zzzz`
  assert.deepEqual(findMarks(`"${damaged}"`), [damaged])
})
