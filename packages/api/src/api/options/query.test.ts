// Tests of query string parsing: decoding, repeated parameters, skipped parts.

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
  })

test('an empty query returns the shared empty value', () => {
  assert.equal(readQuery(''), emptyQuery)
  assert.equal(readQuery('').isEmpty, true)
  assert.equal(readQuery('a').isEmpty, false)
})

test('inherited names such as `constructor` are ordinary parameter names', () => {
  assert.equal(readQuery('b=1').first('constructor'), undefined)
  assert.equal(readQuery('__proto__=1').first('__proto__'), '1')
})

test('invalid UTF-8 is decoded like TextDecoder does', () => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  /** Bytes at the boundaries of UTF-8 sequences. */
  const edges = [
    0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3,
    0xf4, 0xf5, 0xff,
  ]
  let state = 7
  for (let i = 0; i < 20_000; i++) {
    const bytes = Array.from({ length: 1 + (i % 8) }, () => {
      state = (state * 48271) % 2147483647
      return edges[state % edges.length] as number
    })
    const escaped = bytes.map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('')
    assert.equal(readQuery(`a=${escaped}`).first('a'), decoder.decode(Uint8Array.from(bytes)), escaped)
  }
})
