// The reading of query texts: decoding, repetition, and parts that are passed over.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { emptyQuery, readQuery, scanQuery } from './query.js'

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
  { text: 'a=%EF%BB%BFx%ef%bb%bf', a: ['\ufeffx\ufeff'] },
  { text: 'a=%ed%a0%80%41&a=%c3%zz&a=%c3%2', a: ['\ufffd\ufffd\ufffdA'] },
  { text: 'a=é%C3%ABé', a: ['éëé'] },
  { text: 'a=%ff%C3%AB', a: ['\ufffdë'] },
]

for (const { text, a } of rows)
  test(`query: ${text}`, () => {
    const query = readQuery(text)
    assert.deepEqual(query.all('a'), a)
    assert.equal(query.first('a'), a[0])
    assert.deepEqual(scanQuery(text).all('a'), a)
    assert.equal(scanQuery(text).first('a'), a[0])
  })

test('looking for one parameter finds what reading all of them finds', () => {
  const parts = ['ab', 'a', 'b', '%61b', 'a%62', '%61%62', 'A%62', '=', '=1', '=%zz', '&', '&&', ';', '+', '%', '%6', 'abc', '%61%62c', 'é']
  let state = 1
  for (let i = 0; i < 5000; i++) {
    let text = ''
    for (let j = 0; j < 6; j++) {
      state = (state * 48271) % 2147483647
      text += parts[state % parts.length]
    }
    assert.deepEqual(scanQuery(text).all('ab'), readQuery(text).all('ab'), text)
    assert.equal(scanQuery(text).first('ab'), readQuery(text).first('ab'), text)
  }
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
