// The reading of query texts: decoding, repetition, and parts that are passed over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyQuery, readQuery } from './query.js'

const rows: readonly { readonly text: string; readonly a: readonly string[] }[] = [
  { text: 'a=1', a: ['1'] },
  { text: 'a', a: [''] },
  { text: 'a=', a: [''] },
  { text: 'b=1', a: [] },
  { text: 'a=1&a=2&b=3&a', a: ['1', '2', ''] },
  { text: '&&a=1&&', a: ['1'] },
  { text: 'a=x%3Dy%2Bz+w', a: ['x=y+z w'] },
  { text: 'a=x=y', a: ['x=y'] },
  { text: '%61=1', a: ['1'] },
  { text: 'a=1;b=2', a: [] },
  { text: 'a=%zz&a=2', a: ['2'] },
  { text: 'a=%', a: [] },
  { text: 'a=zo%C3%AB', a: ['zoë'] },
  { text: 'a=%ff%C3%AB', a: ['\ufffdë'] },
]

for (const { text, a } of rows)
  test(`query: ${text}`, () => {
    const query = readQuery(text)
    assert.deepEqual(query.all('a'), a)
    assert.equal(query.first('a'), a[0])
  })

test('no query is no work', () => {
  assert.equal(readQuery(''), emptyQuery)
  assert.equal(readQuery('').isEmpty, true)
  assert.equal(readQuery('a').isEmpty, false)
})

test('names that every object inherits are ordinary names', () => {
  assert.equal(readQuery('b=1').first('constructor'), undefined)
  assert.equal(readQuery('__proto__=1').first('__proto__'), '1')
})
